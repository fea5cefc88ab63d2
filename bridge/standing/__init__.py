"""What holds now: finds which decisions newer ones have replaced. ``bridge/search/standings`` reads it for the answers.

``judge``: how likely the later one of two statements replaces the earlier one.
``cross_encoder``: the model on board that reads two statements together.
``comparison``: compares new memories with those that are there, and stores what it finds.
"""
