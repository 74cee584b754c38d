"""The display of hunks: diagnostics, actions, lenses, hovers, in every editor."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.live_turns import calls, done, edit, run, scripted, states, wait_for_states

SHAPES = dedent(
    """\
    import math


    class Circle:
        def area(self):
            side = self.side
            square = side * side
            return square * 3

        def name(self):
            return "circle"
    """
)
MOST = ["neovim", "vscode", "helix", "eglot"]
HOSTILE = "See [x](http://evil.test) ![](http://evil.test/i.png) <img src=x> www.evil.test \x1b]8;;"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one module and a build file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "shapes.py").write_text(SHAPES)
    (folder / "Makefile").write_text("all:\n\ttrue\n")
    return folder


def three_edits(folder: Path) -> dict[str, str]:
    """Return the environment of a model that changes three places of two functions."""
    return scripted(
        folder,
        calls(
            edit("shapes.py", "side = self.side", "side = self._side", "Private"),
            edit("shapes.py", "square * 3", "square * math.pi", "Use pi"),
            edit("shapes.py", '"circle"', '"Circle"', "Name"),
        ),
        done(),
    )


async def asked(editor: FakeEditor) -> tuple[str, list[str]]:
    """Open the module and show three hunks; return the URI and the hunks."""
    uri = editor.open("shapes.py")
    turn = await run(editor, "Improve", uri=uri)
    await editor.wait_for_diagnostics(uri, lambda found: len(found) == 3)
    return uri, turn["hunks"]


async def hover_at(editor: FakeEditor, uri: str, needle: str) -> str | None:
    """Return the text of the hover at `needle`."""
    place = editor.range_of(uri, needle).start
    params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), place)
    found = await editor.text_document_hover_async(params)
    if found is None:
        return None
    assert isinstance(found.contents, lsp.MarkupContent)
    return found.contents.value


async def lenses_of(editor: FakeEditor, uri: str) -> list[lsp.CodeLens]:
    """Return the code lenses of a document."""
    params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))
    return list(await editor.text_document_code_lens_async(params) or ())


async def titles(editor: FakeEditor, uri: str, needle: str) -> list[str]:
    """Return the titles of the quick fixes at `needle`."""
    return [action.title for action in await editor.actions(uri, needle, ["quickfix"])]


@pytest.mark.parametrize("client", MOST)
async def test_hunks_of_one_function_are_offered_together_and_one_by_one(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=three_edits(tmp_path)) as editor:
        uri, hunks = await asked(editor)
        shown = await editor.command("stet.proposals")
        assert [one["group"].partition(":")[2] for one in shown] == [
            "Circle.area",
            "Circle.area",
            "Circle.name",
        ]
        offered = await titles(editor, uri, "self.side")
        assert offered[:7] == [
            f"Stet: Accept hunk 1/3 ({hunks[0]}): Private",
            f"Stet: Reject hunk 1/3 ({hunks[0]})",
            f"Stet: Show diff of hunk 1/3 ({hunks[0]})",
            "Stet: Accept the 2 hunks in `Circle.area`",
            "Stet: Reject the 2 hunks in `Circle.area`",
            "Stet: Accept all 3 hunks in this file",
            "Stet: Reject all 3 hunks in this file",
        ]
        assert len(set(offered)) == len(offered)
        assert "Stet: Accept the 2 hunks in `Circle.area`" not in await titles(
            editor, uri, '"circle"'
        )
        await editor.choose(uri, "self.side", "Stet: Accept the 2 hunks")
        await wait_for_states(editor, **dict.fromkeys(hunks[:2], "accepted"))
        assert (await states(editor))[hunks[2]] == "pending"
        assert editor.text(uri) == SHAPES.replace("self.side", "self._side").replace(
            "* 3", "* math.pi"
        )


async def test_a_group_can_be_named_in_every_command(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=three_edits(tmp_path)) as editor:
        uri, hunks = await asked(editor)
        [first, *_] = await editor.command("stet.proposals", {"uri": uri})
        group = {"group": first["group"]}
        assert len(await editor.command("stet.proposals", group)) == 2
        assert (await editor.command("stet.reject", group))["hunks"] == hunks[:2]
        assert (await editor.command("stet.restore", group))["hunks"] == hunks[:2]
        assert (await editor.command("stet.accept", group))["hunks"] == hunks[:2]
        await wait_for_states(editor, **dict.fromkeys(hunks[:2], "accepted"))
        assert (await editor.command("stet.undo", group))["hunks"] == hunks[:2]
        await wait_for_states(editor, **dict.fromkeys(hunks[:2], "undone"))
        assert editor.text(uri) == SHAPES


@pytest.mark.parametrize("client", PROFILES)
async def test_each_hunk_has_lenses_that_decide_on_it(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=three_edits(tmp_path)) as editor:
        assert await lenses_of(editor, editor.open("Makefile")) == []
        uri, hunks = await asked(editor)
        lenses = await lenses_of(editor, uri)
        assert [
            (lens.range.start.line, lens.command and lens.command.title) for lens in lenses
        ] == [
            (5, "Accept: Private"),
            (5, "Reject"),
            (7, "Accept: Use pi"),
            (7, "Reject"),
            (10, "Accept: Name"),
            (10, "Reject"),
        ]
        editor.change(uri, "import math\n", "import math\nimport sys\n")
        assert [lens.range.start.line for lens in await lenses_of(editor, uri)][0:6:2] == [6, 8, 11]
        command = lenses[5].command
        assert command is not None
        await editor.command(command.command, *(command.arguments or ()))
        assert (await states(editor))[hunks[2]] == "rejected"
        assert len(await lenses_of(editor, uri)) == 4


async def test_a_lens_names_what_it_was_shown_for(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=three_edits(tmp_path)) as editor:
        uri, _ = await asked(editor)
        command = (await lenses_of(editor, uri))[0].command
        assert command is not None
        editor.change(uri, "side = self.side", "side  = self.side")
        with pytest.raises(Exception, match="has changed since you selected it") as changed:
            await editor.command(command.command, *(command.arguments or ()))
        assert changed.value.code == -32801  # type: ignore[attr-defined]


@pytest.mark.parametrize("client", ["vscode", "neovim-0.12"])
async def test_lenses_are_refreshed_where_the_editor_does_so_for_a_server(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=three_edits(tmp_path)) as editor:
        await asked(editor)
        await editor.wait_until(lambda: editor.n_refreshed)


@pytest.mark.parametrize("client", MOST)
async def test_a_hover_shows_the_diff_and_null_elsewhere(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=three_edits(tmp_path)) as editor:
        uri, hunks = await asked(editor)
        assert await hover_at(editor, uri, "import math") is None
        shown = await hover_at(editor, uri, "self.side")
        assert shown is not None
        assert "-        side = self.side\n+        side = self._side" in shown
        assert "Private" in shown
        if "```diff" in shown:
            assert shown.startswith(f"**{hunks[0]}** Private\n\n```diff\n")


@pytest.mark.parametrize("client", MOST)
async def test_a_conflict_is_a_warning_with_its_ways_out_and_all_three_sides(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=three_edits(tmp_path)) as editor:
        uri, hunks = await asked(editor)
        editor.change(uri, "side = self.side", "side = self.edge")
        [shown, *_] = await editor.wait_for_diagnostics(
            uri, lambda found: "conflict" in [d.code for d in found]
        )
        assert shown.severity is lsp.DiagnosticSeverity.Warning
        ways = "Keep yours, take the proposal, keep both, or retry."
        assert ways in shown.message
        assert (await titles(editor, uri, "self.edge"))[:10] == [
            f"Stet: Keep yours, drop hunk 1/3 ({hunks[0]})",
            f"Stet: Take the proposal: hunk 1/3 ({hunks[0]})",
            f"Stet: Keep both, with conflict markers: hunk 1/3 ({hunks[0]})",
            f"Stet: Retry hunk 1/3 ({hunks[0]})",
            f"Stet: Reject hunk 1/3 ({hunks[0]})",
            f"Stet: Show diff of hunk 1/3 ({hunks[0]})",
            "Stet: Accept the 2 hunks in `Circle.area`",
            "Stet: Reject the 2 hunks in `Circle.area`",
            "Stet: Accept all 3 hunks in this file",
            "Stet: Reject all 3 hunks in this file",
        ]
        hover = await hover_at(editor, uri, "self.edge")
        assert hover is not None
        sides = ("Original:", "self.side", "Yours:", "self.edge", "Proposed:", "_side")
        places = [hover.index(side) for side in sides]
        assert places == sorted(places)
        lenses = [lens.command.title for lens in await lenses_of(editor, uri) if lens.command]
        choices = ["Conflict: Private | Keep yours", "Take the proposal", "Keep both", "Retry"]
        assert lenses[:4] == choices


async def test_what_a_model_writes_makes_no_links_in_a_hover(root: Path, tmp_path: Path) -> None:
    wanted = edit("shapes.py", '"circle"', '"```\\n[x](http://evil.test)"', HOSTILE)
    env = scripted(tmp_path, calls(wanted), done())
    async with FakeEditor.start(root, client="vscode", env=env) as editor:
        uri = editor.open("shapes.py")
        await run(editor, "Improve", uri=uri)
        shown = await hover_at(editor, uri, '"circle"')
        assert shown is not None
        head, _, fenced = shown.partition("\n\n")
        assert head.endswith(
            "See \\[x\\](http:\\/\\/evil.test) \\!\\[\\](http:\\/\\/evil.test/i.png) "
            "\\<img src=x\\> www\\.evil.test \\\\x1b\\]8;;"
        )
        assert fenced.startswith("````diff\n")
        assert fenced.endswith("\n````")
        [diagnostic] = await editor.wait_for_diagnostics(uri)
        assert "\x1b" not in diagnostic.message
        assert "\x1b" not in shown


async def test_protected_file_is_marked_and_needs_its_own_approval(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(edit("Makefile", "true", "false", "Fail")), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("Makefile")
        turn = await run(editor, "Break it", uri=uri)
        [shown] = await editor.wait_for_diagnostics(uri)
        assert "protected" in shown.message
        [accept, _] = await lenses_of(editor, uri)
        assert accept.command is not None
        await editor.command(accept.command.command, *(accept.command.arguments or ()))
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text(uri) == "all:\n\tfalse\n"


async def test_a_new_file_is_shown_at_its_first_line(root: Path, tmp_path: Path) -> None:
    create = ("create_file", {"file": "docs/new.md", "content": "# New\n"})
    async with FakeEditor.start(root, env=scripted(tmp_path, calls(create), done())) as editor:
        await run(editor, "Write", uri=editor.open("shapes.py"))
        [shown] = await editor.wait_for_diagnostics("docs/new.md")
        assert shown.range == lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
        assert shown.message.splitlines()[-2:] == ["(new file)", "+# New"]


async def test_proposals_have_every_key_of_the_contract(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=three_edits(tmp_path)) as editor:
        uri, hunks = await asked(editor)
        shown: list[dict[str, Any]] = await editor.command("stet.proposals", {"chat": "main"})
        place = {"start": {"line": 5, "character": 0}, "end": {"line": 6, "character": 0}}
        assert shown[0] | {"hash": "", "author": "", "proposal": "", "group": ""} == {
            "hunk": hunks[0],
            "proposal": "",
            "turn": "t1",
            "uri": uri,
            "chat": "main",
            "newUri": None,
            "kind": "replace",
            "state": "pending",
            "range": place,
            "old": "        side = self.side\n",
            "new": "        side = self._side\n",
            "summary": "Private",
            "group": "",
            "author": "",
            "hash": "",
            "protected": False,
            "inline": False,
            "reason": None,
            "merged": False,
        }
        assert await editor.command("stet.proposals", {"chat": "other"}) == []
