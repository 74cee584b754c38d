"""Measurements beside a peer, whole processes over real pipes: `python -m tests.bench`."""
