"""Accepting hunks, whatever the editor answers: the reported text decides."""

from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES, Quirk
from tests.support.live_turns import calls, done, edit, run, scripted, states, wait_for_states
from tests.support.restarts import until_killed

TEXT = "one\ntwo\nand\nthree\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


def numbers(folder: Path) -> dict[str, str]:
    """Return the environment of a model that writes digits."""
    return scripted(folder, calls(edit("a.txt", "two", "2"), edit("a.txt", "three", "3")), done())


@pytest.mark.parametrize("quirk", [Quirk.NULL, Quirk.REFUSE])
async def test_refused_edit_leaves_the_hunk_pending_with_a_reason(
    root: Path, tmp_path: Path, quirk: Quirk
) -> None:
    async with FakeEditor.start(root, quirk=quirk, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        shown_text = await editor.wait_for_message("not applied")
        assert await states(editor) == dict.fromkeys(turn["hunks"], "pending")
        [hunk, _] = await editor.command("stet.proposals")
        assert hunk["reason"]
        assert hunk["reason"] in shown_text
        assert editor.text(uri) == TEXT


async def test_an_editor_that_sends_its_text_late_is_waited_for(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, quirk=Quirk.SLOW, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        await editor.wait_until(lambda: editor.applied)
        # Every request flushes unsent changes, so the next request reports the text.
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text(uri) == "one\n2\nand\nthree\n"


@pytest.mark.parametrize("client", PROFILES)
async def test_text_typed_while_the_edit_is_on_its_way_is_kept(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        answer = editor.command("stet.accept", {"hunk": turn["hunks"][1]})
        # Typed before the edit arrives, so the edit's version is stale: the edit is sent once more.
        editor.type(uri, 0, 0, "zero\n")
        await answer
        await wait_for_states(editor, **{turn["hunks"][1]: "accepted"})
        assert editor.text(uri) == "zero\none\ntwo\nand\n3\n"
        assert (await states(editor))[turn["hunks"][0]] == "pending"


@pytest.mark.parametrize("client", PROFILES)
async def test_text_outside_ascii_is_edited_in_place(
    root: Path, tmp_path: Path, client: str
) -> None:
    text = "# 𝄞 → naïve\u2028line\x0cfeed\r\nüber 👩‍👩‍👧 two 漢字\r\nlast"
    env = scripted(
        tmp_path,
        calls(edit("untitled:u", "über 👩‍👩‍👧 two 漢字", "über 👨‍👩‍👧 zwei kanji 𝄞")),
        calls(edit("untitled:u", "last", "last\nline")),
        done(),
    )
    async with FakeEditor.start(root, client=client, env=env) as editor:
        uri = editor.open("untitled:u", text)
        turn = await run(editor, "Romanise", uri=uri)
        assert len(turn["hunks"]) == 2, turn["toolCalls"]
        editor.type(uri, 0, 3, "♭")
        await editor.command("stet.accept", {"uri": uri})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        assert editor.text(uri) == (
            "# 𝄞♭ → naïve\u2028line\x0cfeed\r\nüber 👨‍👩‍👧 zwei kanji 𝄞\r\nlast\r\nline"
        )


async def test_protected_files_need_their_own_approval(root: Path, tmp_path: Path) -> None:
    (root / "Makefile").write_text("all:\n\ttrue\n")
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "Makefile"})),
        calls(edit("Makefile", "true", "false"), edit("a.txt", "two", "2")),
        done(),
    )
    async with FakeEditor.start(root, env=env) as editor:
        uri, makefile = editor.open("a.txt"), editor.open("Makefile")
        turn = await run(editor, "Both", uri=uri)
        answer = await editor.command("stet.accept", {"all": True, "protected": True})
        assert [one["reason"] for one in answer["refused"]] == [
            "protected file: accept it by itself, with `protected: true`"
        ]
        await wait_for_states(editor, **{answer["hunks"][0]: "accepted"})
        assert editor.text(makefile) == "all:\n\ttrue\n"
        await editor.choose(makefile, "true", "Stet: Accept hunk 1/1")
        await editor.wait_until(lambda: editor.text(makefile) == "all:\n\tfalse\n")
        assert len(turn["hunks"]) == 2


async def test_names_known_by_their_shape_are_protected_and_version_control_is_refused(
    root: Path, tmp_path: Path
) -> None:
    made = ("odd.lock", ".anything/x", "hooks/on-save", "strange.toml", "a.txt.md", ".jj/config")
    env = scripted(
        tmp_path,
        calls(*[("create_file", {"file": name, "content": "x\n"}) for name in made]),
        done(),
    )
    async with FakeEditor.start(root, env=env) as editor:
        await run(editor, "Make them", uri=editor.open("a.txt"))
        hunks = await editor.command("stet.proposals", {"state": "pending"})
        assert {Path(one["uri"]).name: one["protected"] for one in hunks} == {
            "odd.lock": True,
            "x": True,
            "on-save": True,
            "strange.toml": True,
            "a.txt.md": False,
        }
        answer = await editor.command("stet.accept", {"all": True, "protected": True})
        assert len(answer["hunks"]) == 1
        assert len(answer["refused"]) == 4


async def test_a_new_turn_supersedes_what_waits_in_the_same_place(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(
        tmp_path,
        calls(edit("a.txt", "two", "2")),
        done(),
        calls(edit("a.txt", "two", "zwei")),
        done(),
    )
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        first = await run(editor, "Digits", uri=uri)
        second = await run(editor, "German", uri=uri)
        old, new = first["hunks"][0], second["hunks"][0]
        assert await states(editor) == {old: "superseded", new: "pending"}
        assert (
            " Replaced 1 earlier hunk in a.txt; restore it with Stet: Restore. "
            in editor.messages[-1].message
        )
        assert (first["replaced"], second["replaced"]) == ([], [old])
        # The earlier hunk can be restored, and then the later one.
        for back, gone in ((old, new), (new, old)):
            assert await editor.command("stet.restore", {"hunk": back}) == {
                "hunks": [back],
                "refused": [],
            }
            assert await states(editor) == {back: "pending", gone: "superseded"}
        await editor.choose(uri, "two", f"Stet: Restore the replaced hunk ({old}): ")
        assert await states(editor) == {old: "pending", new: "superseded"}
        await editor.choose(uri, "two", f"Stet: Restore the replaced hunk ({new}): ")
        assert await states(editor) == {old: "superseded", new: "pending"}
        offered = [action.title for action in await editor.actions(uri, "three")]
        assert not [title for title in offered if "replaced" in title]
        editor.change(uri, "one\n", "zero\none\n")
        await editor.command("stet.restore", {"turn": first["turn"]})
        await editor.command("stet.accept", {"hunk": old})
        await wait_for_states(editor, **{old: "accepted", new: "superseded"})
        assert editor.text(uri) == "zero\none\n2\nand\nthree\n"
        # The replaced hunk was made for a text that is no longer there.
        offered = [action.title for action in await editor.actions(uri, "2")]
        assert not [title for title in offered if "replaced" in title]


async def test_a_superseded_hunk_is_restored_after_a_restart(root: Path, tmp_path: Path) -> None:
    (root / "b.txt").write_text("b\n")
    env = scripted(
        tmp_path,
        calls(edit("a.txt", "two", "2"), ("create_file", {"file": "new.txt", "content": "1\n"})),
        done(),
        calls(
            edit("a.txt", "two", "zwei"), ("create_file", {"file": "new.txt", "content": "1.\n"})
        ),
        done(),
    )
    env["XDG_STATE_HOME"] = str(tmp_path / "state")
    async with until_killed(root, env) as editor:
        uri = editor.open("a.txt")
        first = await run(editor, "Digits", uri=uri)
        second = await run(editor, "German", uri=uri)
        assert (
            " Replaced 2 earlier hunks in 2 files; restore them with Stet: Restore. "
            in editor.messages[-1].message
        )
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        await editor.command("stet.restore", {"turn": first["turn"]})
        assert await states(editor) == {
            **dict.fromkeys(first["hunks"], "pending"),
            **dict.fromkeys(second["hunks"], "superseded"),
        }
        await editor.command("stet.accept", {"turn": first["turn"]})
        await wait_for_states(editor, **dict.fromkeys(first["hunks"], "accepted"))
        assert editor.text(uri) == TEXT.replace("two", "2")
        assert editor.text("new.txt") == "1\n"


@pytest.mark.parametrize("one_by_one", [False, True])
async def test_additions_keep_their_order_when_the_text_between_them_goes(
    root: Path, tmp_path: Path, one_by_one: bool
) -> None:
    (root / "a.txt").write_text("a\nb\nc\nd\n")
    late, early = (
        {"file": "a.txt", "position": f"insert:{n}", "content": f"{n}\n"} for n in (4, 2)
    )
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.txt"})),
        calls(("edit_file", late), ("edit_file", early)),
        done(),
    )
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Add", uri=uri)
        editor.change(uri, "b\nc\n", "")
        for hunk in turn["hunks"] if one_by_one else ():
            await editor.command("stet.accept", {"hunk": hunk})
            await wait_for_states(editor, **{hunk: "accepted"})
        if not one_by_one:
            await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        assert editor.text(uri) == "a\n2\n4\nd\n"


async def test_accept_with_new_writes_the_users_text_of_one_hunk(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=numbers(tmp_path)) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        with pytest.raises(JsonRpcException, match="name one `hunk`"):
            await editor.command("stet.accept", {"all": True, "new": "x\n"})
        await editor.command("stet.accept", {"hunk": turn["hunks"][0], "new": "II\nIII\n"})
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text(uri) == "one\nII\nIII\nand\nthree\n"
