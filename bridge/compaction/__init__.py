"""Compaction: merges a topic's memories into a draft of one decision record.

It finds texts that say the same and decisions that conflict. It knows no transactions: storing the record belongs to
``bridge/operations``. All modules are pure except ``previews``, which writes files, and ``judgement``, which calls a
language model. In reading order:

``record_draft``: the draft of a decision record, made from memories and embeddings.
``contradictions``: decisions as statements, and the conflicts between them.
``duplicates``: groups of texts that say the same, and pairs of close vectors.
``conflicts``: pairs of decisions that cannot both hold, found by rules.
``statements``: a decision parsed into clauses, as the rules compare them.
``labels``: the numbers by which things of one name are told apart.
``lexicon``: the words behind the rules: their tables and stems.
``narrative``: the record's narrative from a template.
``judgement``: the language model's part: doubtful conflicts and the narrative.
``previews``: previews of compactions, stored under their digest.
"""
