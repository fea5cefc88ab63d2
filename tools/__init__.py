"""The generators of files in this repository. You or ``make`` run them; the program never imports them.

In reading order:

``schemas``: writes docs/schemas and the OpenAPI document, or checks them.
``json_schema``: builds JSON Schemas of answer types and pydantic models.
``published_types``: the TypeScript declarations of the files, the answers and the HTTP interface.
``typescript``: writes TypeScript declarations from JSON Schemas.
``job_states``: the states of jobs and the verbs that fit them, for the page and the extension.
``openapi_requests``: the schemas of what clients send over HTTP.
``openapi``: builds the OpenAPI document of the HTTP interface.
``examples_answers``: the golden examples of memories and answers.
``examples_jobs``: the golden examples of the job folder.
``examples``: builds the golden examples.
``docs_tables``: writes the tables in the docs that are made from the code.
``screenshot``: makes the screenshot of the page.
``build_onnx``: builds the ONNX graph of the embedding model.
``judge_training``: trains the judge of what newer decisions replace, from ``judge_pairs``.
``judge``: makes the judge's files for the package from the trained weights.
``int8_weights``: its weights in 8 bits.
``default_model``: makes the embedding model again from the published weights.
``measure_centres``: measures what the vectors of the multilingual model have in common.
``extension_bundle``: what the VS Code extension carries of the program.
``dist``: builds the files of a release, and checks them.
``chaos``: kills a worker at random for a minute, and counts what was lost.
``count``: prints how large the project is.
"""
