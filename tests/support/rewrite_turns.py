"""A selection that a scripted model rewrites.

turn, text, agent = await rewritten("one two\\n", "two", fenced("TWO"))
"""

from stet.agent.turn import Ask, Mode, Turn
from stet.context.context_builder import EditorLocation
from stet.llm.model import Completion
from stet.llm.scripted_model import Reply, say
from stet.settings.values import Settings
from stet.text.document import TextDocument
from stet.text.position import Range
from tests.support.agent_harness import AgentHarness
from tests.support.workspaces import make_workspace

PATH = "/ws/a.md"
LINE = "one two three\n"


def range_at(text: str, start: int, end: int) -> Range:
    document = TextDocument("file:///ws/a.md", text)
    return Range(document.position_at(start), document.position_at(end))


def begin(
    text: str, selected: Range | str, *replies: Reply, path: str = PATH, prompt: str = "Shout",
    is_tiny: bool = False, obeys_grammar: bool = False, settings: Settings | None = None,
) -> tuple[AgentHarness, str]:  # fmt: skip
    """Ask for a rewrite of a range, or of the first occurrence of a text."""
    table = AgentHarness(
        make_workspace(opened={path: text}, settings=settings), replies,
        is_tiny=is_tiny, obeys_grammar=obeys_grammar,
    )  # fmt: skip
    if isinstance(selected, str):
        at = text.index(selected)
        selected = range_at(text, at, at + len(selected))
    place = EditorLocation(f"file://{path}", selected)
    ask = Ask(prompt=prompt, mode=Mode.REWRITE, place=place, chat="main")
    return table, table.agent.ask(ask).id


async def rewritten(
    text: str, selected: Range | str, *replies: Reply, path: str = PATH, prompt: str = "Shout",
    is_tiny: bool = False, obeys_grammar: bool = False, settings: Settings | None = None,
) -> tuple[Turn, str, AgentHarness]:  # fmt: skip
    """Rewrite to the end; return the turn, the text with its proposal accepted, and the harness."""
    table, turn = begin(
        text, selected, *replies, path=path, prompt=prompt, is_tiny=is_tiny,
        obeys_grammar=obeys_grammar, settings=settings,
    )  # fmt: skip
    return await table.end_of(turn), table.proposed(path), table


def fenced(text: str) -> Completion:
    return say(f"```\n{text}\n```")
