"""Turns of very small models.

A model of a hundred million parameters gets a worked example of `read_file`, `edit_file` and
`done`, only these tools, and a grammar under which every call is well formed and quotes existing
lines: it chooses the place of a change and the new text (`small_turn`).

A model of one or two billion parameters behind a server gets no tools, because it escapes code in
JSON wrongly and calls tools that do not exist. It writes the changed functions in fenced blocks, and
their names say which lines they replace (`block_turn`).
"""
