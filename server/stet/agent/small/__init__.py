"""The loop for a model of a hundred million parameters.

The model gets a short system prompt, a worked example of `read_file`, `edit_file` and `done`, only
these tools, and a grammar under which every call is well formed and quotes existing lines. The
model chooses the place of a change and the new text.
"""
