"""Hooks of other agents: what such an agent edits becomes hunks, and the disk does not change.

The agent calls `stet hook` before and after each of its tools. A tool that reads or edits a file of
the workspace is redirected to a copy of the file in the shadow folder, which has the unsaved text
of the editor and the agent's pending hunks. What the agent has changed there is proposed.
"""
