"""The control socket of a running server: `stet review`, `stet hook` and `stet mcp` use it.

Other programs of the same user send JSON-RPC 2.0 requests, one object a line, and get one answer a
line. The packages above decide what a request may do.
"""
