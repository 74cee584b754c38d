"""What editors do to texts, E1 to E26 of the list that the project keeps, against the whole server.

Behind each the server answers, holds every text as the editor does, to the byte, and the hunk that waits
in `a.txt` can be accepted where it belongs.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.live_turns import ask, calls, done, edit, end_of, scripted, wait_for_states
from tests.support.naive_text import naive_splice
from tests.support.proposing import propose
from tests.support.raw import Message, changed, notification, opened, replaced
from tests.support.unharmed import (
    NEW,
    OLD,
    TEXT,
    Scene,
    at_fault,
    checksum,
    refusal_of,
    until_read,
)

INVALID_PARAMS = -32602
Splice = tuple[int, int, int, int, str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


def closed(uri: str) -> Message:
    """`textDocument/didClose`."""
    return notification("textDocument/didClose", {"textDocument": {"uri": uri}})


def as_change(splice: Splice) -> Message:
    """A content change."""
    start_line, start, end_line, end, text = splice
    return replaced((start_line, start), (end_line, end), text)


def spliced(text: str, *splices: Splice) -> str:
    """What is left when they are carried out one by one, counted in UTF-16."""
    for splice in splices:
        text = naive_splice(text, splice, "utf-16")
    return text


# --- versions, openings and closings ----------------------------------------------------------------


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


async def test_e3_a_change_behind_the_closing_is_ignored(root: Path) -> None:
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


# --- changes ----------------------------------------------------------------------------------------

PAST, FAR = 2**31, 2**53
CHANGES: dict[str, Sequence[Splice]] = {
    "E7 many changes in one": [(0, n % 4, 0, n % 4, "ab"[n % 2]) for n in range(1000)],
    "E7 each relative to the last": [(0, 0, 1, 0, ""), (0, 0, 0, 3, "x\ny"), (1, 0, 1, 1, "z")],
    "E8 a reversed range": [(0, 3, 0, 0, "ONE"), (1, 2, 0, 1, "!")],
    "E8 negative": [(-1, -5, 0, 1, "O"), (-(2**31), 0, -1, 0, "+")],
    "E8 above 2^31": [(0, PAST, 0, PAST + 1, "!"), (PAST, 0, PAST, PAST, ".\n")],
    "E8 above 2^53": [(0, FAR, 0, FAR + 1, "!"), (FAR, FAR, FAR, FAR, ".\n")],
    "E8 above 2^64": [(0, 2**64, 0, 2**70, "!"), (2**64, 0, 2**90, 0, ".\n")],
    "E9 past the end of a line": [(0, 4, 0, 9, "!"), (1, 99, 1, 99, "!")],
    "E9 past the end of the file": [(4, 0, 9, 0, "five\n"), (99, 0, 99, 9, "six")],
}


@pytest.mark.parametrize("splices", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("together", [True, False], ids=["in one message", "one by one"])
async def test_ranges_of_any_kind_lead_to_the_same_text(
    root: Path, splices: Sequence[Splice], together: bool
) -> None:
    async with at_fault(root) as scene:
        changes = [as_change(splice) for splice in splices]
        if together:
            scene.send(changed(scene.uri, 2, *changes))
        else:
            scene.send(*(changed(scene.uri, 2, change) for change in changes))
        scene.reads(spliced(TEXT, *splices), version=2)
        await scene.survives()


async def test_e6_whole_texts_and_ranges_mixed_in_one_notification(root: Path) -> None:
    async with at_fault(root) as scene:
        scene.send(
            changed(
                scene.uri,
                2,
                replaced((0, 0), (2, 0), "lost"),
                {"text": "zero\n" + TEXT},
                replaced((0, 0), (0, 4), "null"),
                {"range": None, "text": "zero\n" + TEXT, "rangeLength": 7},
                {**replaced((1, 0), (1, 3), "eins"), "rangeLength": 99},
            )
        )
        scene.reads("zero\neins\ntwo\nthree\nfour\n", version=2)
        await scene.survives()


# --- texts ------------------------------------------------------------------------------------------

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


async def changed_text(scene: Scene, text: str, splice: Splice) -> str:
    """Open `b.txt` with this text and change it; gives its URI."""
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


# --- names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uri", "is_held"),
    [
        ("untitled:Untitled-1", True),
        ("vscode-notebook-cell:/ws/a.ipynb#W0sZmlsZQ%3D%3D", False),
        ("git:/ws/a.txt?%7B%22path%22%3A%22a.txt%22%7D", False),
        ("jdt://contents/rt.jar/java.lang/String.class?=x", False),
        ("zipfile:///ws/a.zip::a.txt", False),
        ("vscode-vfs://github/owner/repo/a.txt", False),
        ("user@host:ws/a.txt", False),
        ("host:/ws/a.txt", False),
        ("a.txt", False),
        ("", False),
    ],
    ids=lambda value: f"E22 {value}" if isinstance(value, str) else "",
)
async def test_e22_other_schemes_stand_for_no_file_of_the_workspace(
    root: Path, uri: str, is_held: bool
) -> None:
    async with at_fault(root) as scene:
        text = "password\n" + TEXT
        scene.send(opened(uri, "word\n" + TEXT), changed(uri, 2, replaced((0, 0), (0, 0), "pass")))
        wanted = checksum(text) if is_held else None
        assert await scene.editor.command("test.checksums", uri) == [wanted]
        if not is_held:
            refused = await refusal_of(
                scene.editor, "stet.showContext", {"prompt": "x", "uri": uri}
            )
            assert refused.code == INVALID_PARAMS
        scene.send(
            notification("textDocument/didSave", {"textDocument": {"uri": uri}, "text": text}),
            closed(uri),
        )
        await scene.survives()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("file:///c%3A/x/b.txt", "file:///c:/x/b.txt"),
        ("file:///x/%41.txt", "file:///x/A.txt"),
        ("file:///x/%c3%a9.txt", "file:///x/%C3%A9.txt"),
        ("file:///x/a%20b.txt", "file:///x/a b.txt"),
        ("file:///C:/x/b.txt", "file:///c:/x/b.txt"),
        ("file:///C%3A/x/b.txt", "file:///c%3a/x/b.txt"),
        ("file://SERVER/share/b.txt", "file://server/share/b.txt"),
    ],
    ids=[
        "E23 colon", "E23 letter", "E23 hexadecimal digits", "E23 space", "E24 drive",
        "E24 drive and colon", "E25 server",
    ],
)  # fmt: skip
async def test_spellings_of_one_document_are_one_document(
    root: Path, first: str, second: str
) -> None:
    async with at_fault(root) as scene:
        scene.send(opened(first, "ne\n"), changed(second, 2, replaced((0, 0), (0, 0), "o")))
        wanted = checksum("one\n")
        assert await scene.editor.command("test.checksums", first, second) == [wanted, wanted]
        scene.send(closed(second))
        assert await scene.editor.command("test.checksums", first, second) == [None, None]
        await scene.survives()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("file:///x/a%2541.txt", "file:///x/a%41.txt"),
        ("file:///x/a%252F.txt", "file:///x/a%2F.txt"),
        ("file:///X/b.txt", "file:///x/b.txt"),
        ("file:///C:/X/b.txt", "file:///c:/x/b.txt"),
        ("file://server/share/b.txt", "file:///share/b.txt"),
        ("file://server/share/b.txt", "file://other/share/b.txt"),
    ],
    ids=[
        "E23 %25 twins",
        "E23 %25 slashes",
        "E23 letters",
        "E24 no drive",
        "E25 UNC or not",
        "E25 servers",
    ],
)
async def test_names_that_look_alike_are_two_documents(root: Path, first: str, second: str) -> None:
    async with at_fault(root) as scene:
        scene.send(opened(first, "1"), opened(second, "2"), changed(second, 2, {"text": "3"}))
        scene.reads("1", uri=first)
        scene.reads("3", uri=second)
        await scene.holds()
        scene.send(closed(first))
        scene.closed(first)
        await scene.survives()


async def test_e26_a_folder_behind_a_link_is_another_document(root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "b.txt").write_text(TEXT)
    (root / "link").symlink_to("real")
    async with at_fault(root) as scene:
        editor = scene.editor
        real, link = editor.open("real/b.txt"), editor.open("link/b.txt")
        [hunk] = await propose(editor, {"edit": "real/b.txt", "changes": [[OLD, NEW]]})
        editor.change(link, "two", "zwei")
        await scene.holds(**{hunk: "pending"})
        await editor.command("stet.accept", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(real) == TEXT.replace(OLD, NEW)
        assert editor.text(link) == TEXT.replace("two", "zwei")
        editor.save(real)
        await scene.survives(**{hunk: "accepted"})
