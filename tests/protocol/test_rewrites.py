"""A selection is rewritten exactly, in every editor."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES
from tests.support.live_turns import end_of, run, scripted, wait_for_states
from tests.support.restarts import ready

TEXT = "Begin \U0001f600 here.\r\none \U0001f600 two three\r\nEnd.\r\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.md").write_bytes(TEXT.encode())
    return folder


@pytest.mark.parametrize("client", PROFILES)
async def test_the_selection_of_any_editor_is_replaced_and_nothing_else(
    root: Path, tmp_path: Path, client: str
) -> None:
    env = scripted(tmp_path, {"text": "```\nTWO\n```"})
    async with FakeEditor.start(root, client=client, env=env) as editor:
        uri = editor.open("a.md", TEXT)
        editor.select(uri, "two")
        turn = await run(editor, "Shout", mode="rewrite")
        (hunk,) = await editor.command("stet.proposals")
        assert hunk["old"] == "one \U0001f600 two three\r\n", turn["error"]
        assert hunk["new"] == "one \U0001f600 TWO three\r\n"
        await editor.command("stet.accept", hunk["hunk"])
        await wait_for_states(editor, **{hunk["hunk"]: "accepted"})
        assert editor.text(uri) == TEXT.replace("two", "TWO")


@pytest.mark.parametrize("model", ["```\nTWO\n```", "TWO"])
@pytest.mark.parametrize("title", ["Stet: Document", "Stet: Correct grammar", "Stet: Shout"])
async def test_an_action_on_part_of_a_line_rewrites_that_part(
    root: Path, tmp_path: Path, title: str, model: str
) -> None:
    settings = {"prompts": [{"title": "Shout", "prompt": "Shout this", "mode": "rewrite"}]}
    env = scripted(tmp_path, {"text": model})
    async with FakeEditor.start(root, client="vscode", env=env, settings=settings) as editor:
        uri = editor.open("a.md", TEXT)
        await ready(editor)
        turn = (await editor.choose(uri, "two", title))["turn"]
        ended = await end_of(editor, turn)
        assert ended["state"] == "completed", ended["error"]
        (hunk,) = await editor.command("stet.proposals")
        assert hunk["new"] == "one \U0001f600 TWO three\r\n"


@pytest.mark.parametrize(
    ("start", "end", "new"),
    [
        ((1, 0), (2, 0), "TWO\r\n"),
        ((1, 0), (1, 16), "TWO\r\n"),
        ((1, 7), (2, 0), "one \U0001f600 TWO\r\n"),
        ((2, 0), (1, 7), "one \U0001f600 TWO\r\n"),
        ((1, 7), (1, 999), "one \U0001f600 TWO\r\n"),
        ((1, 4), (1, 6), "one TWO two three\r\n"),
        ((0, 6), (1, 3), "Begin TWO \U0001f600 two three\r\n"),
    ],
)
async def test_a_range_counts_in_the_editors_units(
    root: Path, tmp_path: Path, start: tuple[int, int], end: tuple[int, int], new: str
) -> None:
    async with FakeEditor.start(
        root, client="vscode", env=scripted(tmp_path, {"text": "```\nTWO\n```"})
    ) as editor:
        uri = editor.open("a.md", TEXT)
        places = {"start": start, "end": end}
        wanted = {
            name: {"line": line, "character": character}
            for name, (line, character) in places.items()
        }
        turn = await run(editor, "Shout", uri=uri, range=wanted, mode="rewrite")
        (hunk,) = await editor.command("stet.proposals")
        assert hunk["new"] == new, turn["error"]


async def test_an_empty_selection_is_refused_before_the_model_is_asked(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md", TEXT)
        place = {"line": 1, "character": 3}
        turn = await run(
            editor, "Shout", uri=uri, range={"start": place, "end": place}, mode="rewrite"
        )
        assert (turn["state"], turn["error"]) == (
            "failed",
            "Select the text to rewrite, then ask again.",
        )


async def test_on_an_empty_selection_no_rewrite_is_offered(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md", "")
        titles = [action.title for action in await editor.actions(uri, "")]
        assert "Stet: Explain" in titles
        assert "Stet: Document" not in titles


async def test_what_helix_sends_without_a_selection_means_the_line(
    root: Path, tmp_path: Path
) -> None:
    """Helix sends the character under the cursor, which the user has not selected."""
    env = scripted(tmp_path, {"text": "```\nTWO\n```"})
    async with FakeEditor.start(root, client="helix", env=env) as editor:
        uri = editor.open("a.md", TEXT)
        turn = (await editor.choose(uri, "w", "Stet: Correct grammar"))["turn"]
        assert (await end_of(editor, turn))["state"] == "completed"
        (hunk,) = await editor.command("stet.proposals")
        assert (hunk["old"], hunk["new"]) == ("one \U0001f600 two three\r\n", "TWO\r\n")


async def test_what_would_be_sent_is_shown_with_its_surroundings(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md", TEXT)
        editor.select(uri, "two")
        await ready(editor)
        ask = {"prompt": "Shout", "mode": "rewrite"}
        shown = await editor.command("stet.showContext", ask)
        assert "one \U0001f600 <selection>two</selection> three" in shown["sections"][-1]["text"]
