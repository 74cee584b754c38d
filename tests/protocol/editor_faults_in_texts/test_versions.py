"""Editors' faults in versions, opens and closes: E1 to E5 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.fault_scene import TEXT, at_fault, checksum, until_read
from tests.support.live_turns import ask, calls, done, edit, end_of, scripted, wait_for_states
from tests.support.raw_peer import changed, closed, opened, replaced


@pytest.mark.parametrize(
    "versions",
    [(5, 3, 1, 0, -4), (1, 1, 1, 1, 1), (2**31, 2**53, 2**70, 9, 100), (7, None, 3, None, 8)],
    ids=["backwards", "equal", "gaps", "missing"],
)
@pytest.mark.parametrize("client", ["vscode", "neovim", "eglot", "kakoune"])
async def test_e1_versions_that_jump_repeat_or_go_back_are_taken_as_they_come(
    root: Path, client: str, versions: Sequence[int | None]
) -> None:
    async with at_fault(root, client=client) as scene:
        for n, version in enumerate(versions):
            scene.send(changed(scene.uri, version, replaced((0, n), (0, n), str(n))))
        last = [version for version in versions if version is not None][-1]
        scene.reads("01234" + TEXT, version=last)
        await scene.survives()


async def test_e1_what_helix_sends_out_of_order_is_put_in_order(root: Path) -> None:
    async with at_fault(root, client="helix") as scene:
        words = {n: f"{n} " for n in range(1, 16)}
        places = {n: sum(len(words[m]) for m in range(1, n)) for n in words}
        for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 11, 12, 13, 15):
            place = (0, places[n])
            scene.send(changed(scene.uri, n, replaced(place, place, words[n])))
        scene.reads("".join(words.values()) + TEXT, version=15)
        await scene.survives()


async def test_e1_what_helix_never_sends_is_not_waited_for(root: Path) -> None:
    async with at_fault(root, client="helix") as scene:
        scene.send(changed(scene.uri, 3, replaced((0, 1), (0, 1), "+")))
        scene.send(changed(scene.uri, 2, replaced((0, 0), (0, 0), "+")))
        assert await scene.editor.command("test.checksums", scene.uri) == [checksum(TEXT)]
        await scene.editor.command("test.jump", 1)
        scene.reads("++" + TEXT, version=3)
        await scene.survives()


async def test_e2_a_change_before_the_opening_is_ignored(root: Path) -> None:
    async with at_fault(root) as scene:
        uri = scene.editor.uri("b.txt")
        scene.send(changed(uri, 1, {"text": "lost"}), changed(uri, 2, replaced((0, 0), (0, 1), "")))
        scene.editor.open("b.txt", "b\n")
        await scene.survives()


async def test_e3_a_change_after_the_closing_is_ignored(root: Path) -> None:
    async with at_fault(root) as scene:
        scene.editor.close(scene.uri)
        scene.send(changed(scene.uri, 2, {"text": "lost"}), closed(scene.uri))
        await scene.holds()
        scene.editor.open(scene.uri, "zero\n" + TEXT)
        await scene.survives()


async def test_e4_a_second_opening_brings_the_text_anew(root: Path) -> None:
    async with at_fault(root) as scene:
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        scene.send(opened(scene.uri, "zero\n" + TEXT), opened(scene.uri, "zero\nzero\n" + TEXT))
        scene.reads("zero\nzero\n" + TEXT, version=1)
        await scene.survives()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("zero\n" + TEXT, "zero\none\n2\n3\nfour\n"),
        (TEXT.replace("two\n", ""), ""),
        ("two\n" + TEXT, "two\none\n2\n3\nfour\n"),
    ],
    ids=["moved", "gone", "twice"],
)
async def test_e5_closed_during_a_run_and_opened_with_another_text(
    root: Path, tmp_path: Path, text: str, after: str
) -> None:
    go = tmp_path / "go"
    proposal = {**calls(edit("a.txt", "two\n", "2\n")), "hold": str(go)}
    env = scripted(tmp_path, calls(("read_file", {"file": "a.txt"})), proposal, done())
    async with at_fault(root, env=env) as scene:
        turn = await ask(scene.editor, "Digits", uri=scene.uri)
        await until_read(scene.editor, turn)
        scene.editor.close(scene.uri)
        scene.editor.open(scene.uri, text)
        await scene.holds()
        go.touch()
        ended = await end_of(scene.editor, turn)
        assert ended["toolCalls"][1]["state"] == ("waitingForUserInput" if after else "error")
        assert len(ended["hunks"]) == bool(after)
        await scene.survives(**dict.fromkeys(ended["hunks"], "pending"))
        for hunk in ended["hunks"]:
            await scene.editor.command("stet.accept", {"hunk": hunk})
            await wait_for_states(scene.editor, **{hunk: "accepted"})
            assert scene.editor.text(scene.uri) == after
