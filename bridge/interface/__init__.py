"""The interface of scripts and command line: arguments, job submission, the JSON envelope and the published shapes.

It does not know how a query is answered (``bridge.search``) or a job is run (``bridge.operations``). In reading order:

``envelope``: the JSON envelope on stdout, and the exit codes.
``arguments``: the scripts' command lines, positional and named.
``question_arguments``: a question's arguments, completed from the settings.
``submission``: from arguments to a dropped job with a running worker; a script that does that and prints the outcome.
``answer_shapes``: the types of the answers to queries and submissions.
``result_shapes``: the types of the jobs' results.
``json_schema``: JSON Schemas of these types, with the docstrings of their fields.
"""
