"""The index in its own process: asked, kept up with the editor, and started again when it dies."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from stet.index.search import index_service as indexing
from stet.index.search.index_location import index_folder
from stet.index.search.index_state import Stage
from stet.index.search_query import SearchMode
from stet.lsp.tasks import Tasks
from stet.settings.values import SearchSettings, Settings
from stet.workspace.modification import Modification, ModificationKind
from stet.workspace.uris import uri_of
from tests.support.indexed import WAIT_SECONDS, IndexedWorkspace


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[IndexedWorkspace]:
    """A workspace of three files; nothing is indexed yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "ws"
    root.mkdir()
    (root / "harbour.py").write_text("def moor(boat):\n    return boat\n")
    (root / "tides.md").write_text("# Tides\n\nThe moon pulls the water.\n")
    (root / "poem.txt").write_text("A ship sails out.\n")
    desk = IndexedWorkspace(root)
    yield desk
    await desk.close()


async def test_a_first_question_is_answered_and_the_second_knows_meaning(
    desk: IndexedWorkspace,
) -> None:
    assert await desk.find("moor") == ["harbour.py"]
    await desk.ready()
    found = await desk.ask("how the moon moves the sea")
    assert found.used_vectors
    best = found.passages[0]
    assert (best.name, best.line, best.text) == ("tides.md", 3, "The moon pulls the water.")
    assert (best.first, best.end, best.title) == (0, 3, "Tides")
    assert (best.lexical_rank, best.vector_rank) == (1, 1)
    assert "moon" in best.why
    assert (desk.index.state.files, desk.index.state.unread) == (3, 0)


async def test_what_is_typed_saved_and_closed_is_found_as_it_is_then(
    desk: IndexedWorkspace,
) -> None:
    await desk.ready()
    desk.open("harbour.py", "def set_sail(): pass\n")
    assert await desk.find("sail") == ["harbour.py", "poem.txt"]
    assert "harbour.py" not in await desk.find("moor")
    uri = uri_of(desk.root / "harbour.py")
    desk.workspace.apply(Modification(ModificationKind.CLOSED, uri))
    assert await desk.find("sail") == ["poem.txt"]
    assert await desk.find("moor") == ["harbour.py"]
    (desk.root / "harbour.py").write_text("def land(): pass\n")
    desk.index.changed([uri])
    assert await desk.find("land") == ["harbour.py"]


async def test_to_the_letter_only_the_letters_count(desk: IndexedWorkspace) -> None:
    await desk.ready()
    assert await desk.find("moo", mode=SearchMode.KEYWORD) == ["harbour.py", "tides.md"]
    assert await desk.find('"return boat"', mode=SearchMode.KEYWORD) == ["harbour.py"]


async def test_what_may_not_be_shown_any_more_is_not_an_answer(desk: IndexedWorkspace) -> None:
    await desk.ready()
    (desk.root / ".stetignore").write_text("tides.md\n")
    assert "tides.md" not in await desk.find("moon")


async def test_a_killed_process_is_told_once_and_answers_again(
    desk: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "RESTART_SECONDS", 0.01)
    await desk.ready()
    for _ in range(2):
        process = desk.index._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        await desk.until(lambda state: state.stage is Stage.STARTING)
        await desk.until(lambda state: state.stage is Stage.READY)
        assert await desk.find("moor") == ["harbour.py"]
    assert desk.told == ["Stet: the search index stopped unexpectedly; it is started again."]


async def test_only_what_was_read_at_two_deaths_in_a_row_is_left_out(
    desk: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "RESTART_SECONDS", 0.01)
    await desk.ready()
    moon, poem = (uri_of(desk.root / name) for name in ("tides.md", "poem.txt"))
    for read in ([moon], [moon, poem]):
        (desk.root / "tides.md").write_text(f"# Tides\n\nThe moon pulls {len(read)} waters.\n")
        process = desk.index._process
        assert process is not None
        desk.index._on_message(process, {"is": "reading", "uris": read})
        os.kill(process.pid, signal.SIGKILL)
        await desk.until(lambda state: state.stage is Stage.STARTING)
        await desk.until(lambda state: state.stage is Stage.READY)
    assert desk.index._avoided == [moon]
    assert "poem.txt" in await desk.find("ship")


async def test_an_error_on_the_way_to_an_answer_is_logged_and_the_files_are_scanned_for_that_question(
    desk: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.ready()
    process = desk.index._process
    with monkeypatch.context() as odd:
        odd.setattr(indexing, "N_EXTRA_HITS", "7")  # so that the limit is no number
        for _ in range(indexing.MAX_DEATHS):
            found = await desk.ask("moor")
            names = [each.name for each in found.passages]
            assert (names, found.used_vectors) == (["harbour.py"], False)
    assert caplog.text.count("the search index could not answer:") == indexing.MAX_DEATHS
    assert "TypeError" in caplog.text
    assert (await desk.ask("moor")).used_vectors  # the index has answered
    assert (desk.index._process, desk.told) == (process, [])


async def test_a_process_that_dies_again_and_again_is_given_up_and_files_are_scanned(
    desk: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "RESTART_SECONDS", 0.01)
    monkeypatch.setattr("stet.index.search.index_process.MODULE", "stet.no_such_module")
    await desk.index.keep_up(desk.workspace.snapshot())
    await desk.until(lambda state: state.stage is Stage.FAILED)
    assert await desk.find("moor") == ["harbour.py"]
    assert len(desk.told) == 2
    assert "Searches read the files instead" in desk.told[-1]


@pytest.mark.parametrize("broken", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_broken_index_is_made_anew_and_told_once(
    desk: IndexedWorkspace, broken: bytes
) -> None:
    await desk.ready()
    await desk.index.close()
    await desk.tasks.close()
    desk.tasks = Tasks()
    (path,) = (desk.root.parent / "cache").rglob("index.db")
    path.write_bytes(broken)
    desk.index = desk.new_index()
    await desk.ready()
    assert await desk.find("moor") == ["harbour.py"]
    assert len(desk.told) == 1
    assert "built anew" in desk.told[0]


async def test_two_servers_on_one_workspace_have_an_index_each(desk: IndexedWorkspace) -> None:
    other = desk.new_index()
    await desk.ready()
    await desk.ready(other)
    desk.open("harbour.py", "def set_sail(): pass\n")
    assert await desk.find("sail") == ["harbour.py", "poem.txt"]
    assert await desk.find("moor", other) == []
    names = {path.name for path in (desk.root.parent / "cache").rglob("*.db")}
    assert names == {"index.db", "index-2.db"}
    await other.close()


async def test_nothing_of_it_can_be_read_by_others(desk: IndexedWorkspace) -> None:
    await desk.ready()
    for path in (desk.root.parent / "cache").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


async def test_an_index_that_was_given_up_can_be_tried_again(
    desk: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "MAX_DEATHS", 1)
    with monkeypatch.context() as broken:
        broken.setattr("stet.index.search.index_process.MODULE", "stet.no_such_module")
        await desk.index.keep_up(desk.workspace.snapshot())
        await desk.until(lambda state: state.stage is Stage.FAILED)
    desk.index.retry()
    await desk.ready()
    assert await desk.find("moor") == ["harbour.py"]


async def test_for_an_editor_that_tells_of_no_files_the_index_watches_them_itself(
    desk: IndexedWorkspace,
) -> None:
    desk.index = IndexedWorkspace(desk.root, watches=False).index
    await desk.ready()
    (desk.root / "deep").mkdir()
    (desk.root / "deep" / "pier.py").write_text("def land(): pass\n")
    (desk.root / "harbour.py").unlink()
    async with asyncio.timeout(WAIT_SECONDS):
        while "deep/pier.py" not in (found := await desk.find("land")) or "harbour.py" in found:
            pass


async def test_a_workspace_below_a_folder_of_no_interest_is_watched_too(
    desk: IndexedWorkspace,
) -> None:
    root = desk.root / "node_modules" / "pkg"
    root.mkdir(parents=True)
    (root / "mast.py").write_text("def step(): pass\n")
    desk = IndexedWorkspace(root, watches=False)
    await desk.ready()
    async with asyncio.timeout(WAIT_SECONDS):
        number = 0
        while not await desk.find("land"):  # it may not watch yet when it is ready
            number += 1
            (root / f"pier{number}.py").write_text("def land(): pass\n")
    await desk.close()


async def test_between_questions_nothing_is_begun_as_long_as_folders_and_settings_are_the_same(
    desk: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.ready()
    process = desk.index._process
    asked: list[str] = []

    def watched(cache: Path, roots: Iterable[str]) -> Path:
        asked.append("folder")
        return index_folder(cache, roots)

    monkeypatch.setattr(indexing, "index_folder", watched)
    assert await desk.find("moor") == ["harbour.py"]
    assert (asked, desk.index._process) == ([], process)
    desk.workspace.with_settings(Settings(search=SearchSettings(embeddings="off")))
    await desk.index.keep_up(desk.workspace.snapshot())
    assert (asked, desk.index._process is process) == (["folder"], False)


async def test_names_and_texts_with_halves_of_characters_end_nothing(
    desk: IndexedWorkspace, caplog: pytest.LogCaptureFixture
) -> None:
    odd = desk.root / os.fsdecode(b"quay\xe9.py")
    odd.write_text("def moor_at_quay(): pass\n")
    await desk.ready()
    process = desk.index._process
    assert await desk.find("quay") == []  # a walk leaves it out
    desk.index.changed([uri_of(odd)])
    assert await desk.find("quay") == []
    assert "is left out" in caplog.text
    desk.open(odd.name, "def moor_at_quay(boat): pass\n")  # open in the editor it is found
    assert await desk.find("quay") == [odd.name]
    names = {"half.md", "half.py", "half.js", "half.rs", "half.txt"}
    for at, name in enumerate(sorted(names)):
        half = (
            f"# A \ud83d quay{at}\n\nfunction q\ud83dy() {{ quay }}\ndef quay\udc00{at}(): quay\n"
        )
        desk.open(name, half)
    assert names <= set(await desk.find("quay \udfff", limit=40))
    assert (desk.index._process, desk.told) == (process, [])


async def test_a_document_or_folder_with_an_odd_name_ends_nothing(desk: IndexedWorkspace) -> None:
    await desk.ready()
    process = desk.index._process
    root = uri_of(desk.root)
    for uri in ("file:", "file:///", root, f"{root}/.", f"{root}/%00", "untitled:", "untitled:/"):
        desk.workspace.apply(
            Modification(ModificationKind.OPENED, uri, text="lantern\n", version=1, language_id="x")
        )
    desk.index.changed(["", "file:", "file:///%00", f"{root}/%ED%A0%80", f"{root}/\ud800"])
    assert await desk.find("moor") == ["harbour.py"]
    assert (await desk.ask("lantern")).passages
    assert (desk.index._process, desk.told) == (process, [])
