"""Stet: a language server that is a coding and writing agent."""

__version__ = "0.1.0"
