"""Hunks as blocks in the text, decided by editing them."""
