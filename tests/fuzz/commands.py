"""The commands of the grammar: all commands of Stet, with valid and with random arguments."""

import random
from collections.abc import Callable
from typing import Any

from tests.fuzz import odd_values as nasty
from tests.fuzz.editor import Editor
from tests.fuzz.permissions import Hunk

Dice = random.Random
PROMPTS = (
    "Do it",
    "What is @a.py?",
    "x",
    "\ud800",
    "é 😀",
    "@notes/ @b.md#Head",
    "a" * 3000,
    "\x00",
    "/review",
)
CHATS = (None, None, "main", "two", "odd name/..", "\ud83d", "c" * 300)
MOST_WAITING = 40


def _place(editor: Editor, dice: Dice) -> dict[str, Any]:
    """Choose the document and position of a question; mostly existing ones."""
    uris = [one.uri for one in editor.documents.values()] or [editor.folder.uri_of("a.py")]
    match dice.randrange(6):
        case 0:
            return {}
        case 1:
            return {"uri": dice.choice(uris), "range": nasty.stretch(dice, 9)}
        case 2:
            return {
                "uri": dice.choice(uris),
                "from": dice.randrange(1, 5),
                "to": dice.randrange(1, 9),
            }
        case 3:
            return {"file": dice.choice(("a.py", "b.md", "notes/c.md", "no.py", "..", ""))}
        case 4:
            return {"uri": dice.choice(nasty.URIS)}
    return {"uri": dice.choice(uris), "line": dice.choice((1, 2, 9, 10**6))}


def _question(editor: Editor, dice: Dice) -> dict[str, Any]:
    question: dict[str, Any] = {"prompt": f"{dice.choice(PROMPTS)} {dice.randrange(1000)}"}
    question |= _place(editor, dice)
    if dice.random() < 0.5:
        question["mode"] = dice.choice(("agent", "ask", "rewrite", "rewrite"))
    if (chat := dice.choice(CHATS)) is not None:
        question["chat"] = chat
    return question


def ask(editor: Editor, dice: Dice) -> None:
    """Ask the agent a question."""

    def then(answer: Any) -> None:
        editor.known.turns = [*editor.known.turns[-9:], answer["turn"]]

    editor.command("stet.ask", _question(editor, dice), then=then)


def turn(editor: Editor, dice: Dice) -> None:
    """Ask for the state of a turn."""

    def then(answer: Any) -> None:
        if answer["question"]:
            editor.known.questions = [*editor.known.questions[-4:], answer["question"]["id"]]

    editor.command("stet.turn", {"turn": _a_turn(editor, dice)}, then=then)


def _a_turn(editor: Editor, dice: Dice) -> str:
    return str(dice.choice((*editor.known.turns, *editor.known.turns, "no such", "")))


def steer(editor: Editor, dice: Dice) -> None:
    """Steer, cancel or answer a running turn."""
    match dice.randrange(3):
        case 0:
            editor.command("stet.steer", {"turn": _a_turn(editor, dice), "prompt": "Go on"})
        case 1:
            editor.command("stet.cancel", *dice.choice(((), (_a_turn(editor, dice),))))
        case 2:
            question = dice.choice((*editor.known.questions, *editor.known.questions, "no such"))
            message = dice.choice(
                ({"text": "yes"}, {"choice": "one"}, {"choice": "no"}, {"text": "\ud800"})
            )
            given = message if dice.random() < 0.4 else {"question": question, **message}

            def then(answer: Any) -> None:
                if message == {"text": "yes"}:
                    editor.allowed.agree(*answer["answered"])

            editor.command("test.answer", given, then=then)


def _decide(editor: Editor, dice: Dice, name: str, state: str, **more: object) -> None:
    """List the hunks in `state`, and decide about one or several of them."""

    def record_hunks(hunks: list[Hunk]) -> None:
        for hunk in hunks:
            editor.known.hunks[hunk["hunk"]] = state
        while len(editor.known.hunks) > 60:
            del editor.known.hunks[next(iter(editor.known.hunks))]
        if len(hunks) > MOST_WAITING:
            editor.command("stet.reject", {"all": True})

    def then(answer: Any) -> None:
        editor.allowed.take(answer["listed"], answer["answer"])

    editor.command("stet.proposals", {"state": state}, then=record_hunks)
    editor.command("test.decide", name, state, _named(editor, dice, state), more, then=then)


def _named(editor: Editor, dice: Dice, state: str) -> dict[str, Any]:
    """Choose the hunks of a decision: mostly one."""
    match dice.randrange(8):
        case 0:
            return {"all": True}
        case 1:
            return {"uri": editor.folder.uri_of(dice.choice(("a.py", "b.md", "d.txt")))}
        case 2:
            return {"turn": _a_turn(editor, dice)}
    ids = [hunk for hunk, was in editor.known.hunks.items() if was == state]
    return {"hunk": dice.choice((*ids[-12:], *ids[-12:], "no such"))}


def accept(editor: Editor, dice: Dice) -> None:
    """Accept hunks."""
    _decide(editor, dice, "stet.accept", "pending", protected=dice.random() < 0.3)


def reject(editor: Editor, dice: Dice) -> None:
    """Reject hunks."""
    state = dice.choice(("pending", "pending", "conflict"))
    _decide(editor, dice, "stet.reject", state, **dice.choice(({}, {"reason": "no \ud800"})))


def undo(editor: Editor, dice: Dice) -> None:
    """Undo accepted hunks."""
    _decide(editor, dice, "stet.undo", "accepted")


def restore(editor: Editor, dice: Dice) -> None:
    """Restore rejected or undone hunks."""
    _decide(editor, dice, "stet.restore", dice.choice(("rejected", "undone")))


def resolve(editor: Editor, dice: Dice) -> None:
    """Resolve conflicts."""
    how = dice.choice(("mine", "theirs", "markers", "retry", "no how"))
    _decide(editor, dice, "stet.resolve", "conflict", how=how)


def preview(editor: Editor, dice: Dice) -> None:
    """Show hunks in the editor's preview; edits made there count as the user's."""
    _decide(editor, dice, "stet.preview", "pending")


def page(editor: Editor, dice: Dice) -> None:
    """Open one of Stet's documents and remember it."""

    def then(answer: Any) -> None:
        if isinstance(answer, dict) and "uri" in answer:
            editor.known.pages = [*editor.known.pages[-5:], answer["uri"]]

    name = dice.choice(
        ("stet.openChat", "stet.openChat", "stet.newChat", "stet.review", "stet.ledger")
    )
    chat = {"chat": dice.choice(CHATS)} if name == "stet.openChat" else {}
    if name == "stet.newChat" and dice.random() < 0.7:
        return
    editor.command(name, chat, then=then)


def send(editor: Editor, dice: Dice) -> None:
    """Send the text typed into a chat, or carry out a comment's instruction."""
    if dice.random() < 0.5:
        editor.command("stet.send", {"chat": dice.choice((None, "main", "two", "no such"))})
    else:
        editor.command("stet.carryOut", _place(editor, dice))


def context(editor: Editor, dice: Dice) -> None:
    """Change the context of questions."""
    kind = dice.choice(("add", "remove", "save", "load", "delete", "clear", "none"))
    files = ("a.py", "notes", "no.py", "..", "\ud800", "")
    given: dict[str, Any] = (
        {} if kind == "none" else {kind: dice.choice((*files, ["a.py", "b.md"]))}
    )
    if kind == "clear":
        given = {"clear": True}
    if kind in ("save", "load", "delete"):
        given = {kind: dice.choice(("p1", "p2", "\ud800", ""))}
    editor.command("stet.context", given)


def show(editor: Editor, dice: Dice) -> None:
    """Show the context that a question would send."""
    editor.command("stet.showContext", _question(editor, dice))


def look(editor: Editor, dice: Dice) -> None:
    """Run commands that change nothing."""
    near = dice.choice(({}, _place(editor, dice)))
    match dice.randrange(6):
        case 0:
            editor.command("stet.status")
        case 1:
            states = ("pending", "sent", "conflict", "superseded", "withdrawn", "no such")
            editor.command("stet.proposals", {"state": dice.choice(states)})
        case 2 | 3:
            given = {name: near[name] for name in ("uri", "file", "line") if name in near}
            editor.command(dice.choice(("stet.next", "stet.previous")), given)
        case 4:
            editor.command("stet.focus", near)
        case 5:
            editor.command(
                "stet.search", {"query": dice.choice(("u", "def x", "", "\ud800", "a b c d"))}
            )


def rare(editor: Editor, dice: Dice) -> None:
    """Run commands that process the whole workspace."""
    editor.command(dice.choice(("stet.deadLinks", "stet.reindex")))


NAMES = (
    "stet.ask", "stet.turn", "stet.cancel", "stet.steer", "stet.answer", "stet.openChat", "stet.chats", "stet.newChat",
    "stet.send", "stet.runComment", "stet.showContext", "stet.requestLog", "stet.search", "stet.reindex",
    "stet.context", "stet.status", "stet.proposals", "stet.accept", "stet.reject", "stet.preview",
    "stet.undo", "stet.restore", "stet.resolve", "stet.next", "stet.previous", "stet.review",
    "stet.focus", "stet.deadLinks", "stet.sendSelection", "stet.agents", "stet.chooseAgent", "stet.no", "", "\ud800",
)  # fmt: skip
ARGUMENTS = (
    "prompt", "mode", "uri", "range", "from", "to", "line", "preset", "chat", "disabledTools", "turn",
    "question", "text", "choice", "state", "hunk", "hash", "proposal", "all", "protected", "reason",
    "how", "add", "remove", "clear", "save", "load", "delete", "query", "limit", "file", "group", "agent", "option", "value", "no",
)  # fmt: skip


def oddly(editor: Editor, dice: Dice) -> None:
    """Send any command with random arguments; none of them approves anything."""
    name = dice.choice(NAMES)
    given: list[Any] = []
    for _ in range(dice.choice((0, 1, 1, 2))):
        names = dice.sample(ARGUMENTS, dice.choice((1, 1, 2, 3)))
        given.append(
            {one: nasty.odd(dice) for one in names} if dice.random() < 0.8 else nasty.odd(dice)
        )
    if name in ("stet.accept", "stet.undo", "stet.resolve", "stet.preview", "stet.deadLinks"):
        given = [{"all": 1, **(one if isinstance(one, dict) else {})} for one in given]
    arguments: Any = given if dice.random() < 0.9 else nasty.odd(dice)
    editor.request("workspace/executeCommand", {"command": name, "arguments": arguments})


COMMANDS: dict[str, tuple[int, Callable[[Editor, Dice], None]]] = {
    "agent": (9, ask), "turn": (12, turn), "steer": (8, steer), "accept": (20, accept),
    "reject": (8, reject), "undo": (5, undo), "restore": (4, restore), "resolve": (5, resolve),
    "preview": (2, preview), "page": (2, page), "send": (2, send), "context": (5, context),
    "show": (3, show), "look": (30, look), "rare": (1, rare), "odd command": (40, oddly),
}  # fmt: skip
