"""`<user_query>`: what the user asks."""

from stet.context.tags import element, harmless
from stet.context.values import Section


def user_query(prompt: str) -> Section:
    """The prompt as it was written, except that pasted text can't close the section."""
    return Section("user_query", element("user_query", harmless(prompt)))
