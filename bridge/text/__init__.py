"""A memory as text: the enriched template, the other text forms, identity, passages for embedding, search terms.

Pure functions over ``bridge.memory``. It knows neither a store nor a model. In reading order:

``sections``: the content's sections as lines, and the escaping of lines that look like structure.
``references``: the classification of references into files, plans, branches and issues.
``decision_lines``: a decision as a line of a decision record, with its marks, its date and its memory's number.
``conversation``: a conversation turn as one text, the form of legacy memories.
``template``: the enriched text, and ``parse`` for all forms.
``memory_json``: the export form.
``identity``: the id of a memory, derived from its text.
``passages``: the texts of a memory that get a vector each, and its whole text.
``gist``: what a memory says, in a line.
``visible``: any text without the characters that people do not see and that a model or a terminal obeys.
``orders``: orders to an assistant that stand in a memory, and their mark.
``error_lines``: the line of an output that says what is wrong, and which lines are the same error.
``failures``: a failure and its fix as a memory.
``terms``: what the full-text index stores of a text, and the search terms of a query.
``windows``: the parts of a long text that the full-text index has one by one.
``function_words``: words without a subject, and endings, in other languages than English.
``time_words``: whether a query may name a time.
``time_phrase``: the time that a query names.
``courtesy``: words of courtesy around a question, which are not searched for.
``turn_words``: the words of ten languages by which a turn's part in the conversation is told.
``query_words``: the words of a query in a text, and where they are.
"""
