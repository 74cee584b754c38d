"""The protocol; only this package imports pygls and lsprotocol."""
