"""Attacks on Stet by everything it reads, counted by what they bring about."""
