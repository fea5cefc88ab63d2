"""A memory as text: the enriched template and its parts, other forms of text, identity, passages and search terms.

Pure functions over ``bridge.memory``. It knows neither a store nor a model.
"""
