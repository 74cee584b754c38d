"""`<user_query>`: what the user asks."""

from stet.context.context_tags import element, escape_tags
from stet.context.context_values import ContextSection


def user_query_section(prompt: str) -> ContextSection:
    """The prompt as it was written, except that pasted text can't close the section."""
    return ContextSection("user_query", element("user_query", escape_tags(prompt)))
