"""Pure values and algorithms over text: no I/O, no async, no logging."""
