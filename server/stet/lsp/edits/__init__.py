"""Decisions of the user on their way to the editor: sent, confirmed by the text, or reported as failed.

A hunk is *approved* when the user says yes; the state `accepted` is set when the text contains the hunk:
pending, sent, accepted; or pending again, with a reason, if the edit fails. A document whose `version` is
None is closed: its text comes from the disk.
"""
