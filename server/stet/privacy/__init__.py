"""Hide what must not leave the machine: secrets, marks in their place, and the provenance of
text.
"""
