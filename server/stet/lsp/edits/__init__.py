"""What the user decided on its way to the editor: sent, seen in the text, or told why not."""
