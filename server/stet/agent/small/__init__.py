"""How a model of a hundred million parameters is led through the loop.

It gets a short system prompt, a worked example of `read_file`, `edit_file` and `done`, these tools
and no others, and a grammar under which every call is well formed and quotes lines that are there.
What to change, and into what, it chooses itself.
"""
