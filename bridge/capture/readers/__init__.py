"""Readers of transcripts: one module for each tool, found by the tool's name. They read, and write nothing."""
