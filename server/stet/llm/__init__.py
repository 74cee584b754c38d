"""Models: one protocol, its adapters, and the selection of the model."""
