"""Real programs that tests drive and that no Python package brings: each is had once, in a cache.

They lie outside the checkout and outside the system, a folder for each part and version.
"""
