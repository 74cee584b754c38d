"""The Agent Client Protocol: another agent answers a question, and its edits become hunks.

The agent is a program that speaks JSON-RPC on its standard streams. It reads and writes files by
requests to Stet, if it can: reads are answered from the session view, and what it writes is
proposed. Everything that it sends is untrusted.
"""
