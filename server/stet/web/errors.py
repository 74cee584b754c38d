"""What goes wrong with the web."""


class WebError(Exception):
    """A page or a search API can't be read; the message says why and what to do."""
