"""The definitions and headings of a file, by grammar or by indentation."""
