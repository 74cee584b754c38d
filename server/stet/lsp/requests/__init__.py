"""One module for each group of LSP methods that the editor calls."""
