"""The judge on board: how likely the later one of two decisions replaces the earlier one, without a language model.

``judge``: the model, which reads both statements together. ``pair_tokens``: what it reads. Its weights are made by
``tools.judge_training`` and ``tools.judge``, from pairs that are in the project, and share the embedding model's lower
layers.
"""
