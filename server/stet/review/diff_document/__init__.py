"""The document that shows all pending hunks as one diff."""
