"""The texts that are sent to an agent with a question."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from stet.agent.turn import Ask, Mode
from stet.bridges.session_view import SessionView, ViewError
from stet.context.context_values import CurrentDocument, find_current_document
from stet.privacy.redactor import Redactor
from stet.text.escape import escape_line
from stet.text.lines import text_between
from stet.text.render import fence_for
from stet.workspace.safe_excerpt import excerpt, redactor_of
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of
from stet.workspace.workspace import Workspace

MAX_FILES = 20
"""The most files whose unsaved text is sent; others are named."""
MAX_TEXT = 100_000
"""The most characters of unsaved text that are sent."""
MAX_SELECTIONS = 10
"""The most selected ranges that are sent."""
INTRODUCTION = (
    "The user reviews your edits in an editor, with Stet: each becomes a proposal, and the file "
    "changes when the user accepts. Don't repeat an edit that was proposed, and don't change files "
    "by shell. Shell commands and searches see the saved files."
)
_QUESTION = "This is a question: answer it, and don't change files."


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """A prompt for an agent.

    Attributes:
        texts: The texts, the question last.
        parts: What they hold of the user's files, for the request log.
        kinds: The number of secrets of each kind that were replaced by marks.
        is_open: Whether secrets are not replaced.
    """

    texts: tuple[str, ...]
    parts: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class _Unsaved:
    """A file whose text is not that on the disk."""

    name: str
    text: str


async def build_prompt(  # noqa: PLR0913 - all that the prompt depends on
    ask: Ask,
    feedback: str,
    view: SessionView,
    workspace: Workspace,
    *,
    reads_disk: bool,
    introduction: str,
) -> AgentPrompt:
    """Return the prompt of a question.

    Args:
        ask: The question.
        feedback: What the user has decided and changed since the last turn.
        view: What the session sees.
        workspace: The files.
        reads_disk: Whether the agent misses text that is not on the disk.
        introduction: The first text; "" for none.
    """
    unsaved = await _unsaved_files(view, workspace) if reads_disk else []
    snapshot = workspace.snapshot().asked_about(ask.place.uri)
    current = await asyncio.to_thread(find_current_document, snapshot, ask.place)
    texts, parts = [introduction] if introduction else [], []
    if ask.mode is Mode.ASK:
        texts.append(_QUESTION)
    if feedback:
        texts.append(feedback)
    if unsaved:
        texts.append(await asyncio.to_thread(_unsaved_section, unsaved, snapshot))
        parts += [f"{one.name}, unsaved" for one in unsaved]
    if current is not None:
        texts.append(await asyncio.to_thread(_location, current, snapshot))
        parts.append(current.name)
    if attached := await asyncio.to_thread(_attached, ask, snapshot):
        texts.append(f"The user has attached: {', '.join(attached)}.")
    prompt = AgentPrompt((*texts, ask.prompt), tuple(parts))
    return await asyncio.to_thread(_redacted, prompt, redactor_of(snapshot))


async def _unsaved_files(view: SessionView, workspace: Workspace) -> list[_Unsaved]:
    """Return the files whose text, as the session sees it, is not that on the disk."""
    uris = [*workspace.snapshot().documents, *(hunk.uri for hunk in view.hunks)]
    found = []
    for uri in dict.fromkeys(uris):
        path = path_of(uri)
        if path is None or not view.is_ours(uri):
            continue
        try:
            seen = await view.read(uri)
        except ViewError:
            continue  # the privacy settings hide it
        if seen is None or seen.text is None:
            continue
        snapshot = workspace.snapshot()
        if await asyncio.to_thread(_is_unsaved, snapshot, path, seen.text):
            found.append(_Unsaved(snapshot.name_of(uri), seen.text))
    return found


def _is_unsaved(snapshot: Snapshot, path: Path, text: str) -> bool:
    try:
        saved = snapshot.system.read_bytes(path, 4 * len(text) + 4)
    except OSError:
        return True
    return saved != text.encode("utf-8", "surrogatepass")


def _unsaved_section(unsaved: list[_Unsaved], snapshot: Snapshot) -> str:
    """Return the section about unsaved text."""
    redactor, left = redactor_of(snapshot), MAX_TEXT
    lines = [
        "The editor has text of these files that is not saved. Your tools may show the saved text; "
        "this is the present text, with your pending edits:"
    ]
    for number, one in enumerate(unsaved):
        left -= len(one.text)
        name = escape_line(one.name)
        if number >= MAX_FILES or left < 0:
            lines.append(f"{name}: too long to be quoted here")
            continue
        text = one.text
        if redactor:
            redactor.learn(text)
        fence = fence_for(text)
        end = "" if text.endswith("\n") else "\n"
        lines.append(f"{name}:\n{fence}\n{text}{end}{fence}")
    return "\n".join(lines)


def _location(current: CurrentDocument, snapshot: Snapshot) -> str:
    """Return where the user is, with the selected text, without secrets."""
    name = escape_line(current.name)
    if not current.selected:
        line = f", line {current.cursor.line + 1}" if current.cursor else ""
        return f"The user is in {name}{line}."
    return "\n".join(_selections(current, name, snapshot))


def _selections(current: CurrentDocument, name: str, snapshot: Snapshot) -> Iterator[str]:
    redactor, most = redactor_of(snapshot), snapshot.settings.context.selection_limit
    document = current.document
    for one in current.selected[:MAX_SELECTIONS]:
        yield f"The user has selected in {name}, lines {one.start.line + 1} to {one.end.line + 1}:"
        snapshot.learn_around(document, one.start.line, one.end.line + 1)
        text = excerpt(text_between(document.lines, one.start, one.end), most, redactor)
        fence = fence_for(text)
        yield f"{fence}\n{text}\n{fence}"


def _redacted(prompt: AgentPrompt, redactor: Redactor | None) -> AgentPrompt:
    """Return a prompt with marks in the place of secrets."""
    if redactor is None:
        return replace(prompt, is_open=True)
    for text in prompt.texts:  # a secret of one text is a secret in the others
        redactor.learn(text)
    found = [redactor.redact(text) for text in prompt.texts]
    kinds: Counter[str] = Counter()
    for one in found:
        kinds.update(one.kinds)
    texts = tuple(one.text for one in found)
    return replace(prompt, texts=texts, kinds=tuple(sorted(kinds.items())))


def _attached(ask: Ask, snapshot: Snapshot) -> list[str]:
    """Return the names of the attached files and folders that may be shown."""
    if ask.attachments is None:
        return []
    files = (uri for uri in ask.attachments.files if snapshot.show_or_none(uri) is not None)
    return [escape_line(snapshot.name_of(uri)) for uri in (*files, *ask.attachments.folders)]
