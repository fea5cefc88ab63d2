"""Reranking: an optional model that reads the query and a memory's text together, and judges the first hits again.

It knows neither memories nor a store, and nothing imports it while no reranker is configured. In reading order:

``config``: the configuration of a reranker.
``reranker``: the ``Reranker`` protocol and its error.
``factory``: the reranker that the settings name.
``local_reranker``: a cross-encoder on this machine.
``http_reranker``: a reranker behind an endpoint.
"""
