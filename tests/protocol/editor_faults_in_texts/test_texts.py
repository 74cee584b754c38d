"""Unusual contents of texts: E10 to E21 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place.
"""

from pathlib import Path

import pytest

from tests.support.fault_scene import FaultScene, at_fault
from tests.support.live_turns import wait_for_states
from tests.support.proposals import propose
from tests.support.raw_peer import changed, closed, opened, replaced
from tests.support.splices import Splice, as_change, spliced

HALVES = "\ud83d \ude00\n"
TEXTS: dict[str, tuple[str, Splice, tuple[str, str]]] = {
    "E10 into a pair": ("𝄞xy\nold\n", (0, 1, 0, 1, "z"), ("old", "new")),
    "E10 out of a pair": ("𝄞𝄞\nold 𝄞\n", (0, 1, 0, 3, ""), ("old 𝄞", "new 𝄞𝄞")),
    "E11 lone surrogates": (HALVES + "old\n", (0, 1, 0, 1, "\udfff"), ("old", "new")),
    "E11 a lone surrogate in a hunk": ("a\nold \ud800\n", (0, 0, 0, 1, "b"), ("old", "new")),
    "E11 halves that meet": ("x\ud83d-\ude00\nold\n", (0, 2, 0, 3, ""), ("old", "new")),
    "E13 a line feed comes to its return": ("a\rb\nold\n", (1, 0, 1, 0, "\n"), ("old", "new")),
    "E13 what parts them goes": ("a\rx\nold\r\n", (1, 0, 1, 1, ""), ("old", "new")),
    "E13 a return goes alone": ("a\r\nb\r\nold\r\n", (0, 1, 1, 0, "\n"), ("old", "new")),
    "E14 lone returns": ("a\rb\rold\r", (1, 0, 1, 1, "B\rC"), ("old", "new")),
    "E14 all three line ends": ("a\rb\nc\r\nold\n\r", (2, 0, 2, 1, "C"), ("old", "new")),
    "E15 a byte order mark": ("\ufeffa\nold\n", (0, 1, 0, 2, "b"), ("old", "new")),
    "E15 a mark typed before another": ("\ufeffold\n", (0, 0, 0, 0, "\ufeff"), ("old", "new")),
    "E16 NUL": ("a\x00b\n\x00old\x00\n", (0, 1, 0, 2, "\x00\x00"), ("old", "new")),
    "E17 form feed": ("a\fb\nold\f\n", (0, 2, 0, 3, "c"), ("old", "new")),
    "E17 next line": ("a\x85b\nold\x85\n", (0, 2, 0, 3, "c"), ("old", "new")),
    "E17 line and paragraph separator": ("a\u2028\u2029b\nold\n", (0, 3, 0, 4, "c"),
                                         ("old", "new")),
    "E17 other lookalikes": ("a\x0b\x1c\x1d\x1eb\nold\n", (0, 5, 0, 6, "c"), ("old", "new")),
    "E18 no line end at the end": ("a\nold", (0, 0, 0, 1, "b"), ("old", "new")),
    "E18 the last line end goes": ("a\nold\n", (1, 3, 2, 0, ""), ("old", "new\nline")),
    "E19 an empty file": ("", (0, 0, 0, 0, ""), ("", "new\n")),
    "E19 emptied": ("a\n", (0, 0, 1, 0, ""), ("", "new")),
}  # fmt: skip


@pytest.mark.parametrize(("text", "splice", "hunk"), TEXTS.values(), ids=TEXTS)
async def test_a_text_of_any_kind_is_held_and_edited_as_it_is(
    root: Path, text: str, splice: Splice, hunk: tuple[str, str]
) -> None:
    async with at_fault(root) as scene:
        b = await changed_text(scene, text, splice)
        await scene.holds()
        [other] = await propose(scene.editor, {"edit": "b.txt", "changes": [list(hunk)]})
        before = scene.editor.text(b)
        await scene.editor.command("stet.accept", {"hunk": other})
        await wait_for_states(scene.editor, **{other: "accepted"})
        assert scene.editor.text(b) == before.replace(*hunk)
        await scene.survives(**{other: "accepted"})


async def changed_text(scene: FaultScene, text: str, splice: Splice) -> str:
    """Open `b.txt` with this text and change it; return its URI."""
    uri = scene.editor.open("b.txt", text)
    scene.send(changed(uri, 2, as_change(splice)))
    scene.reads(spliced(text, splice), version=2, uri=uri)
    return uri


async def test_e20_a_million_lines(root: Path) -> None:
    half = "x\n" * 500_000
    async with at_fault(root) as scene:
        uri = scene.editor.uri("b.txt")
        scene.send(
            opened(uri, half + half + "old\n"),
            changed(uri, 2, replaced((500_000, 0), (500_000, 0), "y\nz")),
            changed(uri, 3, replaced((1_000_000, 0), (1_000_000, 1), "")),
        )
        scene.reads(f"{half}y\nz{half[:-2]}\nold\n", version=3, uri=uri)
        [hunk] = await propose(scene.editor, {"edit": "b.txt", "changes": [["old", "new"]]})
        await scene.holds(**{hunk: "pending"})
        [_, listed] = await scene.editor.command("stet.proposals")
        assert listed["range"]["start"] == {"line": 1_000_001, "character": 0}


async def test_e21_one_line_of_fifty_megabytes(root: Path) -> None:
    half = "x" * 25_000_000
    async with at_fault(root) as scene:
        uri = scene.editor.uri("b.txt")
        scene.send(
            opened(uri, half + half),
            changed(uri, 2, replaced((0, 25_000_000), (0, 25_000_000), "y")),
            changed(uri, 3, replaced((0, 50_000_001), (0, 60_000_000), "\nz\n")),
        )
        scene.reads(f"{half}y{half}\nz\n", version=3, uri=uri)
        await scene.holds()
        scene.send(closed(uri))
        scene.closed(uri)
        await scene.survives()


@pytest.mark.parametrize(
    ("client", "encoding"), [("neovim", "utf-8"), ("vscode", "utf-16"), ("eglot", "utf-32")]
)
async def test_e12_columns_in_the_encoding_agreed_on(
    root: Path, client: str, encoding: str
) -> None:
    async with at_fault(root, client=client) as scene:
        editor = scene.editor
        assert editor.encoding == encoding
        b = editor.open("b.txt", "𝄞é中x\n😀 old 😀\n")
        editor.change(b, "x", "yz")
        editor.change(b, "😀\n", "😀😀\n")
        editor.type(b, 1, 1, "\u0301")
        [hunk] = await propose(editor, {"edit": "b.txt", "changes": [["old 😀", "𝄞 new"]]})
        await editor.command("stet.accept", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(b) == "𝄞é中yz\n😀\u0301 𝄞 new😀\n"
        await scene.survives(**{hunk: "accepted"})
