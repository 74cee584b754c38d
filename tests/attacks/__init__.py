"""Attacks on Stet through everything that it reads, judged by their effects."""
