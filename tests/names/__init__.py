"""Names of files, from the documents of the programs that read them, and what the rules say of
each.
"""
