"""The settings: frozen values that every layer may read, and their parsing and merging."""
