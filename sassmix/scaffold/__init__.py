"""A plugin for a new architecture, begun from samples of its code: what can be told, what is guessed, what is open.

``samples`` reads, ``rules`` and ``guess`` judge opcodes, ``findings`` compares with the parent, ``decisions`` says what
is left for a person, ``files`` and ``listing`` write, ``job`` does it all.
"""
