"""Hooks: what other tools call at the beginning and the end of a session, and how that is installed.

A hook must never disturb its tool: it ends with the status 0 whatever happens, and writes its reasons to a log of its
own. In reading order:

``hook``: the program that a tool calls.
``installation``: a change of a tool's configuration file: shown first, written, and taken back byte for byte.
``installers``: the installer of each tool, by its name.
``claude_code``: the hooks of Claude Code.
``codex``: the notification of Codex.
"""
