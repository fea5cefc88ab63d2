"""Compaction: which texts agree, which decisions conflict, and the decision record that several memories become.

Pure but for ``previews``, which keeps what was shown, and ``judgement``, which asks a language model.
"""
