"""Hunks as blocks in the text, which the user decides by editing the blocks."""
