"""Editors that declare `drawsHunks`: they draw hunks themselves, from `display` of
`stet.proposals`.
"""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.proposals import PROPOSING_SERVER, propose

TEXT = "one\ntwo\n\nthree\n"
DRAWS_HUNKS = {"stet": {"drawsHunks": True}}
CHANGES = {
    "edit": "a.txt",
    "changes": [["one\n", "1\n"], ["\nthree\n", "\nnew\nthree\nlast\n"]],
}


async def shown(root: Path, client: str, experimental: object) -> dict[str, list[Any]]:
    """Return the message, the range and the lens lines of three hunks in an editor of that kind."""
    (root / "a.txt").write_text(TEXT)
    async with FakeEditor.start(
        root, command=PROPOSING_SERVER, client=client, experimental=experimental
    ) as editor:
        uri = editor.open("a.txt")
        await propose(editor, CHANGES)
        found = await editor.wait_for_diagnostics(uri, lambda found: len(found) == 3)
        params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))
        lenses = await editor.text_document_code_lens_async(params) or ()
        return {
            "messages": [one.message for one in found],
            "ranges": [
                (one.range.start.line, one.range.end.line, one.range.end.character) for one in found
            ],
            "lenses": sorted({lens.range.start.line for lens in lenses}),
        }


@pytest.mark.parametrize("client", PROFILES)
async def test_diagnostic_of_a_client_that_draws_hunks(tmp_path: Path, client: str) -> None:
    assert await shown(tmp_path, client, DRAWS_HUNKS) == {
        "messages": ["as the test wants"] * 3,
        # The second insertion is at the end of the text, where no line follows.
        "ranges": [(0, 0, 3), (3, 3, 5), (3, 3, 5)],
        "lenses": [0, 3],
    }


async def test_diagnostic_has_the_version_of_the_text_for_a_client_that_draws_hunks(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    async with FakeEditor.start(
        tmp_path, command=PROPOSING_SERVER, experimental=DRAWS_HUNKS
    ) as editor:
        uri = editor.open("a.txt")
        await propose(editor, CHANGES)
        found = await editor.wait_for_diagnostics(uri, lambda found: len(found) == 3)
        assert [(one.data or {}).get("version") for one in found] == [
            editor.documents[uri].version
        ] * 3
        editor.change(uri, "two\n", "two\n2\n")
        found = await editor.wait_for_diagnostics(uri, lambda found: found[1].range.start.line == 4)
        assert [(one.data or {}).get("version") for one in found] == [
            editor.documents[uri].version
        ] * 3


@pytest.mark.parametrize(
    "experimental", [None, {}, {"stet": None}, {"stet": {"drawsHunks": "yes"}}, ["stet"]]
)
async def test_diagnostic_of_other_clients_has_the_diff(
    tmp_path: Path, experimental: object
) -> None:
    assert await shown(tmp_path, "neovim", experimental) == {
        "messages": [
            "as the test wants\n-one\n+1",
            "as the test wants\n+new",
            "as the test wants\n+last",
        ],
        "ranges": [(0, 0, 3), (2, 3, 0), (3, 3, 5)],
        "lenses": [0, 2, 3],
    }


async def test_diagnostic_of_a_conflict_is_one_line_in_a_client_that_draws_hunks(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    async with FakeEditor.start(
        tmp_path, command=PROPOSING_SERVER, experimental=DRAWS_HUNKS
    ) as editor:
        uri = editor.open("a.txt")
        await propose(editor, CHANGES)
        editor.change(uri, "one\n", "eins\n")
        [found] = [
            one
            for one in await editor.wait_for_diagnostics(
                uri, lambda found: "conflict" in [one.code for one in found]
            )
            if one.code == "conflict"
        ]
        assert found.message == (
            "as the test wants. Conflict: you edited this text. "
            "Keep yours, take the proposal, keep both, or retry."
        )


@pytest.mark.parametrize(
    ("experimental", "lines"), [(DRAWS_HUNKS, [0, 3, 0, 3]), (None, [0, 2, 3, 0])]
)
async def test_next_goes_to_the_line_at_which_the_hunk_is_shown(
    tmp_path: Path, experimental: object, lines: list[int]
) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    async with FakeEditor.start(
        tmp_path, command=PROPOSING_SERVER, client="neovim", experimental=experimental
    ) as editor:
        uri = editor.open("a.txt")
        await propose(editor, CHANGES)
        found = await editor.wait_for_diagnostics(uri, lambda found: len(found) == 3)
        places = []
        line = len(TEXT)
        for n in range(4):
            _ = await editor.command("stet.next", {"uri": uri, "line": line})
            await editor.wait_until(lambda n=n: len(editor.shown_documents) > n)  # type: ignore[misc]
            selection = editor.shown_documents[n].selection
            assert selection is not None
            line = selection.start.line + 1
            places.append(selection.start.line)
        assert places == lines
        assert set(places) == {one.range.start.line for one in found}
