"""How many tokens a text is, roughly, where no provider has counted.

About four characters a token holds for English and for code in today's vocabularies; other
scripts have more tokens per character, so an estimate is marked as one (`Usage.estimated`) and
limits that rest on it leave room.
"""

import json
from collections.abc import Iterable

from stet.llm.messages import Completion, Message, ToolDefinition, Usage

CHARACTERS_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
"""What role and delimiters cost in the chat templates of the well-known models."""


def estimate_tokens(text: str) -> int:
    """Tokens in `text`, about; 0 only for the empty text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def estimate_prompt(messages: Iterable[Message], tools: Iterable[ToolDefinition] = ()) -> int:
    """Tokens of a whole request, about: messages, earlier calls and the tools' schemas."""
    n_tokens = 0
    for message in messages:
        n_tokens += TOKENS_PER_MESSAGE + estimate_tokens(message.content)
        for call in message.tool_calls:
            n_tokens += estimate_tokens(call.name) + estimate_tokens(call.arguments)
    for tool in tools:
        n_tokens += estimate_tokens(tool.name + tool.description)
        n_tokens += estimate_tokens(json.dumps(tool.parameters))
    return n_tokens


def estimate_usage(
    messages: Iterable[Message], tools: Iterable[ToolDefinition], completion: Completion
) -> Usage:
    """Return the estimated usage of a round whose provider gave none."""
    said = estimate_tokens(completion.text)
    for call in completion.tool_calls:
        said += estimate_tokens(call.name) + estimate_tokens(call.arguments)
    return Usage(estimate_prompt(messages, tools), said, estimated=True)
