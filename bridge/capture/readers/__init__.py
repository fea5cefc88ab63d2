"""Readers of transcripts: one module for each tool, found by the tool's name. They read, and write nothing.

``reader``: the interface of a reader, the folders in which it looks, and the reader of each tool.
``transcript_file``: the file of a transcript, found and opened safely.
``json_records``: JSON records one after another, in constant memory; one that is the whole file; their fields.
``foreign_database``: the SQLite database of another tool, opened safely.
``turn_builder``: joins records to turns, and calls with their outcomes; versions of tools, compared.
``claude_code``: the reader of Claude Code's transcripts.
``claude_code_records``, ``claude_code_text``: its records: unparsed and in their order; as words.
``codex``: the reader of Codex's transcripts.
``cursor``: the reader of Cursor's conversations.
``cursor_editor``, ``cursor_agent``: those of its editor, and of its agent in the terminal.
``gemini_cli``: the reader of Gemini CLI's transcripts.
``opencode``: the reader of OpenCode's transcripts.
``vscode_folders``: where VS Code and its relatives keep what belongs to a workspace.
``vscode_chat``: the reader of VS Code's chat.
``exports``: the reader of exported conversations.
``export_markdown``: those in Markdown and plain text.
``export_labels``: the labels of speakers, as one table; and times as people write them.
"""
