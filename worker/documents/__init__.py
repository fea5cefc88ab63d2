"""Documents: what a person reads of an answer, as blocks that Markdown and the terminal show alike.

Each document is a pure function from an answer to blocks. The editor and HTTP get them as Markdown; a command shows
the blocks, or some of them, among its own lines. In reading order:

``blocks``: headings, paragraphs, lists and tables; and these as Markdown, in which no text of a memory is markup.
``jobs``: the document of a job's result.
``compact``: the preview of a compaction.
``migrate``: what a migration did, or would do.
``capture``: what a capture kept, or would keep.
"""
