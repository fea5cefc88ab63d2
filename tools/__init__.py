"""The generators of files in this repository. You or ``make`` run them; the program never imports them.

In reading order:

``schemas``: writes docs/schemas and the OpenAPI document, or checks them.
``json_schema``: builds JSON Schemas of answer types and pydantic models.
``published_types``: the TypeScript declarations of the files, the answers and the HTTP interface.
``typescript``: writes TypeScript declarations from JSON Schemas.
``openapi``: builds the OpenAPI document of the HTTP interface.
``examples``: builds the golden examples.
``docs_tables``: writes the tables in the docs that are made from the code.
``screenshot``: makes the screenshot of the page.
``build_onnx``: builds the ONNX graph of the embedding model.
"""
