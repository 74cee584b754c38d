"""Places of hunks: anchors, tracked per document.

A hunk is *pending*, *sent* (its edit is on its way to the editor) or *decided* (accepted, rejected,
undone, superseded). Anchors of pending and sent hunks are *live*; those of decided hunks are *settled*.
Lines are 0-based and a place is half-open: `(first, end)`, with `first == end` for an insertion.
A *message* is one `textDocument/didChange`; a *step* is the longest part of a message that can be
applied before the lines are read.
"""
