"""Readers of transcripts: one module for each tool, found by the tool's name. They read, and write nothing.

``reader``: the interface of a reader, and the folders in which it looks.
``registry``: the reader of each tool.
``transcript_file``: the file of a transcript, found and opened safely.
``json_lines``, ``json_elements``: JSON records one after another, in constant memory.
``turn_builder``: joins records to turns.
``versions``: versions of tools, compared.
``claude_code``: the reader of Claude Code's transcripts.
``claude_code_heads``, ``claude_code_chain``, ``claude_code_text``: its records: unparsed, in their order, as words.
``codex``: the reader of Codex's transcripts.
``codex_text``: its records as words.
``exports``: the reader of exported conversations.
``export_json``, ``export_markdown``: their forms.
"""
