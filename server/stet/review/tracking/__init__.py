"""Places of hunks: anchors, tracked per document.

A hunk is *pending*, *sent* (its edit is on its way to the editor) or *decided* (accepted, rejected,
undone, superseded). Anchors of pending and sent hunks are *live*; those of decided hunks are *settled*.
Lines are 0-based and a place is half-open: `(first, end)`, with `first == end` for an insertion.
An argument or attribute `hunk` is a hunk's id, and `hunks` are ids.
*Before* and *after* are times: of a change, or of an edit. In the text, lines are *above* and *below* each
other, and `stop` is the line after the lines that a change removes. Only a block has a text before and after in
another sense: the lines that it replaces, and those that it offers.
*Effects* are changes of lines in order, each in lines of the text that the earlier ones have made.
A *message* is one `textDocument/didChange`; a *step* is the longest part of a message that can be
applied before the lines are read.
"""
