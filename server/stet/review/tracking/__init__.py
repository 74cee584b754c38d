"""Places of hunks: anchors, tracked per document.

- A hunk is *pending*, *sent* (its edit was sent to the editor) or *decided* (accepted, rejected,
  undone, superseded). Anchors of pending and sent hunks are *live*, of decided hunks *settled*.
- Lines are 0-based and a place is half-open: `(first, end)`, with `first == end` for an insertion.
- An argument or attribute `hunk` is a hunk's id, and `hunks` are ids.
- *Before* and *after* are times: of a change, or of an edit. Lines are *above* and *below* each
  other; `stop` is the line after the lines that a change removes. Only for a block, *before* and
  *after* are texts: the lines that the block replaces, and the lines that it offers.
- *Effects* are changes of lines in order, each in lines of the text after the earlier ones.
- A *message* is one `textDocument/didChange`; a *step* is the longest part of a message that can be
  applied before the lines are read.
"""
