"""The server as it is, with one command more: `test.propose` proposes what a test wants.

Run as a script: `python -I tests/support/proposing_server.py`; with `--hurried` it waits less long for
what an editor has said that it did.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from stet.lsp.chat import writer
from stet.lsp.delivering import arrival
from stet.lsp.routing import Router
from stet.lsp.server import build_server
from stet.lsp.state import ServerState
from stet.review.drafts import CreateDraft, EditDraft, MoveDraft, RemoveDraft
from stet.review.proposal import Hunk
from stet.review.rules import EditRules
from stet.settings.values import EditSettings
from stet.text.edit import Replacement, TextEdit
from stet.workspace.ground import survey
from stet.workspace.snapshot import Snapshot

Wish = Mapping[str, Any]


def propose(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """`test.propose`: one wish or several, each an object with `edit`, `create`, `move` or `remove`.

    `{edit: file, changes: [[old, new]]}`, `{create: file, text}`,
    `{move: file, to: file, links: {file: [[old, new]]}}`, `{remove: file}`.

    Returns:
        The ids of the hunks, in the order in which they are proposed.
    """
    snapshot = state.workspace.snapshot()
    rules = EditRules(
        EditSettings(),
        editable=lambda _: True,
        may_create=lambda _: True,
        ground=lambda uri: survey(snapshot, uri),
    )
    hunks: list[Hunk] = []
    for wish in given:
        assert isinstance(wish, Mapping)
        hunks += _proposed(state, snapshot, rules, wish)
    return {"hunks": [hunk.id for hunk in hunks]}


def _proposed(
    state: ServerState, snapshot: Snapshot, rules: EditRules, wish: Wish
) -> Iterable[Hunk]:
    said: dict[str, Any] = {
        "turn": str(wish.get("turn", "t1")),
        "author": "test",
        "summary": "as the test wants",
    }
    ledger = state.ledger
    if name := wish.get("edit"):
        return ledger.propose_edit(_edit(snapshot, name, wish["changes"], said), rules)
    if name := wish.get("create"):
        draft = CreateDraft(uri=_uri(snapshot, name), name=name, text=wish["text"], **said)
        return (ledger.propose_create(draft, rules),)
    if name := wish.get("move"):
        links = tuple(
            _edit(snapshot, link, changes, said) for link, changes in wish["links"].items()
        )
        move = MoveDraft(
            uri=_uri(snapshot, name),
            name=name,
            new_uri=_uri(snapshot, wish["to"]),
            new_name=wish["to"],
            links=links,
            **said,
        )
        return ledger.propose_move(move, rules)
    name = wish["remove"]
    uri = _uri(snapshot, name)
    remove = RemoveDraft(uri=uri, name=name, text=snapshot.show(uri).text, **said)
    return (ledger.propose_remove(remove, rules),)


def _uri(snapshot: Snapshot, name: str) -> str:
    return snapshot.locate(name).uri


def _edit(
    snapshot: Snapshot, name: str, changes: Iterable[tuple[str, str]], said: Wish
) -> EditDraft:
    document = snapshot.show(_uri(snapshot, name))
    replacements = []
    for old, new in changes:
        assert document.text.count(old) == 1, f"{old!r} in {document.text!r}"
        start = document.text.index(old)
        replacements.append(Replacement(start, start + len(old), new))
    return EditDraft(document=document, name=name, edit=TextEdit(tuple(replacements)), **said)


def main() -> int:
    """Serve on standard input and output."""
    if "--hurried" in sys.argv:
        arrival.ARRIVAL_SECONDS, arrival.UNSEEN_SECONDS, arrival.SHOWN_SECONDS = 1.0, 0.5, 0.5
        writer.ARRIVAL_SECONDS = 0.5
    server = build_server()
    first: Any = server.documents
    route: Router[ServerState] = Router(server, first._state)
    route.command("test.propose", propose)
    return server.serve()


if __name__ == "__main__":
    sys.exit(main())
