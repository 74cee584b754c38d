"""The model: one protocol, its adapters, and which one is used."""
