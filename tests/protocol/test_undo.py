"""Undo and recovery: `stet.undo`, `stet.restore`, `stet.resolve`, in every editor."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.live_turns import (
    calls,
    done,
    edit,
    run,
    scripted,
    states,
    wait_for_states,
)
from tests.support.proposals import PROPOSING_SERVER, propose
from tests.support.restarts import until_killed

TEXT = "one\ntwo\nthree\nfour\nfive\n"
MOST = ["neovim", "vscode", "helix", "eglot"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text(TEXT)
    return folder


def numbers(folder: Path, *more: dict[str, Any]) -> dict[str, str]:
    """Return the environment of a model that writes digits for two words, and then `more`."""
    wanted = calls(edit("a.txt", "two", "2", "Two"), edit("a.txt", "four", "4", "Four"))
    return scripted(folder, wanted, done(), *more)


async def accepted(editor: FakeEditor, uri: str) -> Sequence[str]:
    """Accept both hunks; return them."""
    turn = await run(editor, "Digits", uri=uri)
    await editor.command("stet.accept", {"turn": turn["turn"]})
    await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
    return list(turn["hunks"])


@pytest.mark.parametrize("client", PROFILES)
async def test_an_accepted_hunk_is_taken_back_after_later_typing(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        first, second = await accepted(editor, uri)
        editor.change(uri, "one\n", "zero\none\n")
        editor.change(uri, "three", "drei")
        assert await editor.command("stet.undo", {"hunk": first}) == {
            "hunks": [first],
            "refused": [],
        }
        await wait_for_states(editor, **{first: "undone", second: "accepted"})
        assert editor.text(uri) == "zero\none\ntwo\ndrei\n4\nfive\n"


@pytest.mark.parametrize("client", MOST)
async def test_a_turn_is_taken_back_and_brought_back(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        hunks = await accepted(editor, uri)
        await editor.command("stet.undo", {"turn": "t1"})
        await wait_for_states(editor, **dict.fromkeys(hunks, "undone"))
        assert editor.text(uri) == TEXT
        assert (await editor.command("stet.restore", {"turn": "t1"}))["hunks"] == hunks
        assert await states(editor) == dict.fromkeys(hunks, "pending")
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, **dict.fromkeys(hunks, "accepted"))
        assert editor.text(uri) == TEXT.replace("two", "2").replace("four", "4")


async def test_a_hunk_that_was_written_over_is_not_undone_and_the_rest_is(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        first, second = await accepted(editor, uri)
        editor.change(uri, "2\n", "zwei\n")
        with pytest.raises(Exception, match="you have edited these lines since") as refused:
            await editor.command("stet.undo", {"hunk": first})
        assert refused.value.code == -32803  # type: ignore[attr-defined]
        answer = await editor.command("stet.undo", {"turn": "t1"})
        assert answer["hunks"] == [second]
        assert [one["hunk"] for one in answer["refused"]] == [first]
        await wait_for_states(editor, **{second: "undone"})
        assert editor.text(uri) == "one\nzwei\nthree\nfour\nfive\n"


async def test_what_was_not_accepted_can_not_be_undone(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=numbers(tmp_path)) as editor:
        turn = await run(editor, "Digits", uri=editor.open("a.txt"))
        first = turn["hunks"][0]
        with pytest.raises(Exception, match=f"{first} can't be undone: it is pending"):
            await editor.command("stet.undo", first)
        with pytest.raises(Exception, match="no accepted hunks for 't1'"):
            await editor.command("stet.undo", {"turn": "t1"})
        with pytest.raises(Exception, match="there is no hunk 'h99'"):
            await editor.command("stet.undo", {"hunk": "h99"})
        with pytest.raises(Exception, match="has no argument 'huk'; did you mean 'hunk'"):
            await editor.command("stet.undo", {"hunk": first, "huk": first})
        with pytest.raises(
            Exception, match=r"has no argument 'state'\. Valid arguments: all, .*, uri"
        ):
            await editor.command("stet.undo", {"hunk": first, "state": "accepted"})


async def test_a_rejected_hunk_is_brought_back_at_its_place(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        first, second = turn["hunks"]
        await editor.command("stet.reject", {"hunk": first, "reason": "no"})
        editor.change(uri, "one\n", "zero\none\n")
        await editor.wait_for_diagnostics(uri, lambda found: len(found) == 1)
        assert await editor.command("stet.restore", first) == {"hunks": [first], "refused": []}
        await editor.wait_for_diagnostics(
            uri, lambda found: [d.range.start.line for d in found] == [2, 4]
        )
        with pytest.raises(Exception, match=f"{second} can't be restored: it is pending"):
            await editor.command("stet.restore", second)


async def conflict(editor: FakeEditor, uri: str) -> str:
    """Bring a hunk into conflict: the user has replaced the same word."""
    turn = await run(editor, "Digits", uri=uri)
    editor.change(uri, "two\n", "zwei\n")
    await editor.wait_for_diagnostics(uri, lambda found: "conflict" in [d.code for d in found])
    return str(turn["hunks"][0])


@pytest.mark.parametrize("client", MOST)
async def test_conflict_is_resolved_with_the_users_text_or_the_agents(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        hunk = await conflict(editor, uri)
        with pytest.raises(Exception, match=r"resolve it with `stet\.resolve`"):
            await editor.command("stet.accept", {"hunk": hunk})
        await editor.command("stet.resolve", {"hunk": hunk, "how": "mine"})
        assert (await states(editor))[hunk] == "rejected"
        assert editor.text(uri) == TEXT.replace("two", "zwei")
        await editor.command("stet.restore", hunk)
        await editor.wait_for_diagnostics(uri, lambda found: len(found) == 2)
        await editor.choose(uri, "zwei", "Stet: Take the proposal: hunk 1/2")
        await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(uri) == TEXT.replace("two", "2")


async def test_a_conflict_is_done_again_in_its_chat(root: Path, tmp_path: Path) -> None:
    again = (calls(edit("a.txt", "zwei", "2 (zwei)")), done("Again."))
    async with FakeEditor.start(root, env=numbers(tmp_path, *again)) as editor:
        uri = editor.open("a.txt")
        hunk = await conflict(editor, uri)
        answer = await editor.command("stet.resolve", {"hunk": hunk, "how": "retry"})
        await editor.wait_for_message("Again.")
        turn = await editor.command("stet.turn", answer["turn"])
        assert (turn["chat"], turn["mode"], turn["state"]) == ("main", "agent", "completed")
        for part in (hunk, "'a.txt'", "```\ntwo\n```", "```\n2\n```", "```\nzwei\n```"):
            assert part in turn["prompt"]
        assert (await states(editor))[hunk] == "superseded"
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        assert editor.text(uri) == TEXT.replace("two", "2 (zwei)")


async def test_both_sides_of_a_conflict_are_put_into_the_text(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        hunk = await conflict(editor, uri)
        await editor.command("stet.resolve", {"hunk": hunk, "how": "markers"})
        await editor.wait_until(lambda: editor.applied)
        text = editor.text(uri)
        assert text.startswith("one\n")
        assert text.endswith("three\nfour\nfive\n")
        lines = text.splitlines()
        assert lines.index("zwei") < lines.index("2")


async def test_resolve_reports_missing_arguments(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        hunk = await conflict(editor, uri)
        with pytest.raises(Exception, match="needs 'how'"):
            await editor.command("stet.resolve", hunk)
        with pytest.raises(Exception, match="'mine', 'theirs', 'markers', 'retry', not 'ours'"):
            await editor.command("stet.resolve", {"hunk": hunk, "how": "ours"})
        editor.change(uri, "zwei\n", "two\n")
        with pytest.raises(Exception, match="is not in conflict: it is pending"):
            await editor.command("stet.resolve", {"hunk": hunk, "how": "theirs"})


async def test_conflict_that_overlaps_another_hunk_names_what_to_decide_first(
    root: Path,
) -> None:
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        [_] = await propose(editor, {"edit": "a.txt", "changes": [["five\n", "5\n"]]})
        added = {"edit": "a.txt", "turn": "t2", "changes": [["four\nfive\n", "four\nfive\nsix\n"]]}
        [last] = await propose(editor, added)
        editor.change(uri, "five\n", "five")
        assert (await states(editor))[last] == "conflict"
        with pytest.raises(JsonRpcException, match=f"{last} can't be changed yet") as refused:
            await editor.command("stet.resolve", {"hunk": last, "how": "theirs"})
        assert refused.value.code == -32803


@pytest.mark.parametrize("client", ["neovim", "vscode", "helix", "sublime", "eglot"])
async def test_a_new_file_that_was_never_saved_is_taken_back_and_brought_back_with_its_turn(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        hunks = await propose(
            editor,
            {"create": "new.txt", "text": "one\n"},
            {"edit": "a.txt", "changes": [["two", "2"]]},
        )
        for _ in range(2):
            await editor.command("stet.accept", {"turn": "t1"})
            await wait_for_states(editor, **dict.fromkeys(hunks, "accepted"))
            await editor.command("stet.undo", {"turn": "t1"})
            await wait_for_states(editor, **dict.fromkeys(hunks, "undone"))
            assert not (root / "new.txt").exists()
            assert editor.text(uri) == TEXT
            if editor.uri("new.txt") in editor.documents:
                editor.close("new.txt")  # an editor may still show the removed file
            restored = await editor.command("stet.restore", {"turn": "t1"})
            assert sorted(restored["hunks"]) == sorted(hunks)
            assert await states(editor) == dict.fromkeys(hunks, "pending")
        editor.from_server("new.txt")
        assert [message.message for message in editor.messages] == []


async def test_a_new_file_that_was_taken_back_can_be_brought_back_after_a_restart(
    root: Path, tmp_path: Path
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, command=PROPOSING_SERVER, env=env) as editor:
        [hunk] = await propose(editor, {"create": "new.txt", "text": "one\n"})
        await editor.command("stet.accept", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "accepted"})
        await editor.command("stet.undo", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "undone"})
        editor.from_server("new.txt")
    async with FakeEditor.start(root, command=PROPOSING_SERVER, env=env) as editor:
        assert await propose(editor) == []
        await editor.command("stet.restore", {"hunk": hunk})
        await editor.command("stet.accept", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "accepted"})
        editor.from_server("new.txt")


async def test_message_of_a_blocked_undo_does_not_mention_accepting(root: Path) -> None:
    async with FakeEditor.start(root, client="kakoune", command=PROPOSING_SERVER) as editor:
        [move] = await propose(editor, {"move": "a.txt", "to": "c.txt", "links": {}})
        await editor.command("stet.accept", {"hunk": move})
        await wait_for_states(editor, **{move: "accepted"})
        editor.open("c.txt")
        editor.type("c.txt", 0, 0, "typed\n")
        await editor.command("stet.undo", {"hunk": move})
        await editor.wait_for_message("save or revert them, then try again")
        assert await states(editor) == {move: "accepted"}
        editor.from_server("a.txt", "c.txt")


@pytest.mark.parametrize("client", PROFILES)
async def test_the_editors_undo_lets_a_hunk_wait_again_and_its_redo_accepts_it(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        first, second = await accepted(editor, uri)
        await editor.wait_for_diagnostics(uri, lambda found: not found)
        editor.change(uri, "4\n", "four\n")
        [shown] = await editor.wait_for_diagnostics(uri)
        assert (shown.code, shown.data["hunk"]) == ("proposal", second)  # type: ignore[index]
        [entry] = await editor.command("stet.proposals", {"state": "pending", "display": True})
        assert [(line["op"], line["text"]) for line in entry["display"]["lines"]] == [
            ("delete", "four"),
            ("insert", "4"),
        ]
        editor.change(uri, "2\n", "two\n")
        await editor.wait_for_diagnostics(uri, lambda found: len(found) == 2)
        assert await states(editor) == {first: "pending", second: "pending"}
        editor.change(uri, "two\n", "2\n")
        assert await states(editor) == {first: "accepted", second: "pending"}
        editor.change(uri, "four\n", "4\n")
        assert await states(editor) == {first: "accepted", second: "accepted"}
        editor.change(uri, "4\n", "four\n")
        [shown] = await editor.wait_for_diagnostics(uri, lambda found: len(found) == 1)
        assert "you undid it in the editor" in shown.message
        editor.type(uri, 0, 0, "zero\n")
        # An accept of all does not include hunks that the user has just undone.
        answer = await editor.command("stet.accept", {"all": True})
        assert answer["hunks"] == []
        assert "accept it by itself" in answer["refused"][0]["reason"]
        await editor.command("stet.accept", {"hunk": second})
        await wait_for_states(editor, **{second: "accepted"})
        assert editor.text(uri) == "zero\none\n2\nthree\n4\nfive\n"
        await editor.command("stet.undo", {"hunk": second})
        await wait_for_states(editor, **{first: "accepted", second: "undone"})


async def test_what_was_undone_in_the_editor_needs_its_own_approval_after_a_restart(
    root: Path, tmp_path: Path
) -> None:
    env = {**numbers(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    async with until_killed(root, env) as editor:
        uri = editor.open("a.txt")
        first, second = await accepted(editor, uri)
        editor.change(uri, "2\n", "two\n")
        await wait_for_states(editor, **{first: "pending", second: "accepted"})
        text = editor.text(uri)
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt", text)
        answer = await editor.command("stet.accept", {"uri": uri})
        assert [one["hunk"] for one in answer["refused"]] == [first]
        assert await editor.command("stet.reject", {"hunk": first})
        assert await states(editor) == {first: "rejected", second: "accepted"}
