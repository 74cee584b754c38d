"""The form of the loop's rounds for a model that writes code better than tool calls.

A model of one or two thousand million parameters escapes code in JSON wrongly, and answers a list
of tools with calls that do not exist. Asked for the changed functions in fenced blocks, it does most
small tasks. Stet finds the lines that a block replaces by the names of its functions.
"""
