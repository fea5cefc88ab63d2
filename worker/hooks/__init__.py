"""Hooks: what other tools call in the course of a session, and how that is installed.

A hook must never disturb its tool: it ends with the status 0 whatever happens, and writes its reasons to a log of its
own. In reading order:

``hook``: the program that a tool calls.
``moments``: notes for a tool while it works, asked of the worker, and a record of what each session was shown.
``installation``: a change of a tool's configuration file: shown first, written, and taken back byte for byte.
``installers``: the installers of each tool, by its name: its hooks, and the notification of Codex.
``json_text``: JSON with comments, edited as text.
``json_hooks``: entries of ours among the hooks of a JSON file.
``opencode``: our plugin for OpenCode.
"""
