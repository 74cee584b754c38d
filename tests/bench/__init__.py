"""Measurements of whole processes over real pipes, compared with peers: `python -m tests.bench`."""
