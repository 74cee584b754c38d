"""Proposals survive any exit of the server, and find their places in files that have changed."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted, states, wait_for_states
from tests.support.restarts import proposals, ready, until_killed

TEXT = "one\ntwo\nthree\nfour\nfive: the fingers of a hand\nsix\n"
FIVE = TEXT.splitlines(keepends=True)[4]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text(TEXT)
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return the environment with a state folder, and a model that writes digits."""
    script = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.txt"}), ("read_file", {"file": "b.txt"})),
        calls(
            edit("a.txt", "one", "1"),
            edit("a.txt", "three", "3"),
            edit("a.txt", "six", "6"),
            edit("b.txt", "two", "2"),
            edit("b.txt", FIVE, "5\n"),
        ),
        done(),
    )
    return {**script, "XDG_STATE_HOME": str(tmp_path / "state")}


async def test_hunks_are_there_after_kill_9_in_files_that_moved_on(
    root: Path, env: dict[str, str]
) -> None:
    async with until_killed(root, env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        assert turn["hunks"] == ["h1", "h2", "h3", "h4", "h5"]
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        await editor.command("stet.reject", {"hunk": "h4", "reason": "no"})
        editor.save(uri)
    a, b = root / "a.txt", root / "b.txt"
    a.write_text("zero\n" + a.read_text().replace("six\n", "sex\n"))
    b.write_text(FIVE + TEXT.replace(FIVE, "").replace("two", "deux"))
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        status = await ready(editor)
        found = await proposals(editor)
        assert (status["pending"], status["conflicts"]) == (2, 1)
        assert {hunk: (one["state"], one["range"]["start"]) for hunk, one in found.items()} == {
            "h1": ("accepted", {"line": 1, "character": 0}),
            "h2": ("pending", {"line": 3, "character": 0}),
            "h3": ("conflict", {"line": 6, "character": 0}),
            "h4": ("rejected", {"line": 2, "character": 0}),
            "h5": ("pending", {"line": 0, "character": 0}),
        }
        # The hunks of the closed file are shown too.
        [shown] = await editor.wait_for_diagnostics("b.txt")
        assert (shown.data, shown.range.start.line) == ({"hunk": "h5", "kind": "replace"}, 0)
        await editor.command("stet.accept", {"hunk": "h2"})
        await wait_for_states(editor, h2="accepted")
        await editor.command("stet.undo", {"hunk": "h1"})
        await wait_for_states(editor, h1="undone")
        assert editor.text(uri) == f"zero\none\ntwo\n3\nfour\n{FIVE}sex\n"
        second = await run(editor, "Again", uri=uri)
        assert second["turn"] == "t2"
        assert not set(second["hunks"]) & set(found)


async def test_what_was_typed_and_not_saved_is_known_after_a_proper_end(
    root: Path, env: dict[str, str]
) -> None:
    typed = "three\n" * 3
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        editor.type(uri, 0, 0, typed)
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt", typed + TEXT)
        await ready(editor)
        found = await proposals(editor)
        assert [found[hunk]["range"]["start"]["line"] for hunk in ("h1", "h2", "h3")] == [3, 5, 8]
        await editor.command("stet.accept", {"hunk": "h2"})
        await wait_for_states(editor, h2="accepted")
        assert editor.text(uri) == typed + TEXT.replace("three", "3")


async def test_a_file_opened_after_the_restart_has_its_hunks(
    root: Path, env: dict[str, str]
) -> None:
    async with until_killed(root, env) as editor:
        await run(editor, "Digits", uri=editor.open("a.txt"))
    async with FakeEditor.start(root, env=env) as editor:
        await ready(editor)
        uri = editor.open("b.txt", "zero\n" + TEXT)
        await editor.wait_for_diagnostics(
            uri, lambda shown: [one.range.start.line for one in shown] == [2, 5]
        )
        await editor.command("stet.accept", {"uri": uri})
        await wait_for_states(editor, h4="accepted", h5="accepted")
        assert editor.text(uri) == "zero\none\n2\nthree\nfour\n5\nsix\n"


async def test_documents_that_are_on_no_disk_have_theirs_when_they_are_opened_again(
    root: Path, env: dict[str, str], tmp_path: Path
) -> None:
    env = env | scripted(tmp_path, calls(edit("untitled:u", "two", "2")), done())
    async with until_killed(root, env) as editor:
        await run(editor, "Digits", uri=editor.open("untitled:u", TEXT))
    async with FakeEditor.start(root, env=env) as editor:
        await ready(editor)
        uri = editor.open("untitled:u", "zero\n" + TEXT)
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        assert editor.text(uri) == "zero\n" + TEXT.replace("two", "2")


async def test_two_servers_look_after_their_own_and_the_next_one_after_the_dead(
    root: Path, env: dict[str, str]
) -> None:
    async with FakeEditor.start(root, env=env) as alive:
        uri = alive.open("a.txt")
        first = await run(alive, "Digits", uri=uri)
        async with until_killed(root, env) as dying:
            second = await run(dying, "Digits", uri=dying.open("a.txt"))
            assert not set(first["hunks"]) & set(second["hunks"])
            assert first["turn"] != second["turn"]
            assert (await states(dying)).keys() == set(second["hunks"])
        async with FakeEditor.start(root, env=env) as heir:
            await ready(heir)
            assert await states(heir) == dict.fromkeys(second["hunks"], "pending")
        await alive.command("stet.accept", {"uri": uri})
        await wait_for_states(alive, **dict.fromkeys(first["hunks"][:3], "accepted"))
    async with FakeEditor.start(root, env=env) as last:
        await ready(last)
        assert (await states(last)).keys() == {*first["hunks"], *second["hunks"]}


async def test_without_a_place_to_keep_them_proposals_live_as_long_as_the_server(
    root: Path, env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        shown_text = await editor.wait_for_message("can't save its proposals")
        assert str(tmp_path / "state") in shown_text
        await run(editor, "Digits", uri=uri)
        # The hunks' numbers start from the clock, as those of earlier runs are unknown.
        accepted = (await editor.command("stet.accept", {"uri": uri}))["hunks"]
        assert len(accepted) == 3
        await wait_for_states(editor, **dict.fromkeys(accepted, "accepted"))
        assert editor.text(uri) == f"1\ntwo\n3\nfour\n{FIVE}6\n"
        assert len([one for one in editor.messages if "can't save" in one.message]) == 1
