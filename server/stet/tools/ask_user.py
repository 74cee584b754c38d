"""`ask_user`: a question to the user; the turn waits for the answer."""

from typing import Annotated

from pydantic import Field

from stet.text.escape import escape
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind

MAX_QUESTION = 2000
"""The most characters of a question, which is shown in a message and beside a line."""
MAX_CHOICE = 60
"""The most characters of a choice, which is shown on a button."""
MAX_CHOICES = 9


class AskUser(Params):
    """Ask the user something that you can't find out yourself, and wait for the answer.

    Ask one thing at a time. With `choices` they can answer by a click; other words are an answer
    too.
    """

    question: str = Field(description="One question, in the user's language.")
    choices: list[Annotated[str, Field(max_length=MAX_CHOICE)]] | None = Field(
        default=None,
        max_length=MAX_CHOICES,
        description="Answers to choose from, a few words each.",
    )


async def run(params: AskUser, ctx: ToolContext) -> str:
    """Ask the user the question and return the answer.

    Raises:
        ToolError: If there is no question, or no user to ask.
    """
    text = params.question.strip()
    if not text:
        raise ToolError("`question` is empty. Say what you want to know.")
    if len(text) > MAX_QUESTION:
        raise ToolError(
            f"`question` has {len(text)} characters; the maximum is {MAX_QUESTION}. Shorten it."
        )
    # Choices are shown on buttons and returned unchanged: escape control and hidden characters.
    message = (escape(" ".join(each.split())) for each in params.choices or ())
    choices = tuple(dict.fromkeys(message))
    if "" in choices:
        raise ToolError("`choices` holds an empty one. Leave it out.")
    answer = await ctx.ask_user("ask", text, choices)
    if answer not in choices:
        # A choice is the model's text: an address in it does not come from the user.
        ctx.proposer.user_words.append(answer)
    return f"The user answers: {answer}\n"


ASK_USER = Tool("ask_user", ToolGroup.ACTION, ToolKind.CONTROL, AskUser, run)
