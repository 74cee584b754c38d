"""Delivery of the user's decisions to the editor: send, confirm by the text, or report the failure.

A hunk is *approved* when the user says yes; the state `accepted` is set when the text contains the
hunk: pending, sent, accepted; or pending again, with a reason, if the edit fails. A document whose
`version` is None is not open: its text was read from the disk.
"""
