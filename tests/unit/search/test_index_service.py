"""The index in its own process: asked, kept up with the editor, and started again when it dies."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from stet.lsp.tasks import Tasks
from stet.search import index_service as indexing
from stet.search.index_state import Stage, index_folder
from stet.search.word_search import SearchMode
from stet.settings.values import SearchSettings, Settings
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Modification, ModificationKind
from tests.support.indexed_workspace import WAIT_SECONDS, IndexedWorkspace

pytestmark = pytest.mark.slow


@pytest.fixture
async def workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[IndexedWorkspace]:
    """A workspace of three files; nothing is indexed yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "ws"
    root.mkdir()
    (root / "harbour.py").write_text("def moor(boat):\n    return boat\n")
    (root / "tides.md").write_text("# Tides\n\nThe moon pulls the water.\n")
    (root / "poem.txt").write_text("A ship sails out.\n")
    workspace = IndexedWorkspace(root)
    yield workspace
    await workspace.close()


async def test_a_first_question_is_answered_and_the_second_knows_meaning(
    workspace: IndexedWorkspace,
) -> None:
    assert await workspace.find("moor") == ["harbour.py"]
    await workspace.ready()
    found = await workspace.ask("how the moon moves the sea")
    assert found.used_vectors
    best = found.passages[0]
    assert (best.name, best.line, best.text) == ("tides.md", 3, "The moon pulls the water.")
    assert (best.first, best.end, best.title) == (0, 3, "Tides")
    assert (best.lexical_rank, best.vector_rank) == (1, 1)
    assert "moon" in best.why
    assert (workspace.index.state.files, workspace.index.state.unread) == (3, 0)


async def test_what_is_typed_saved_and_closed_is_found_as_it_is_then(
    workspace: IndexedWorkspace,
) -> None:
    await workspace.ready()
    workspace.open("harbour.py", "def set_sail(): pass\n")
    assert await workspace.find("sail") == ["harbour.py", "poem.txt"]
    assert "harbour.py" not in await workspace.find("moor")
    uri = uri_of(workspace.root / "harbour.py")
    workspace.workspace.apply(Modification(ModificationKind.CLOSED, uri))
    assert await workspace.find("sail") == ["poem.txt"]
    assert await workspace.find("moor") == ["harbour.py"]
    (workspace.root / "harbour.py").write_text("def land(): pass\n")
    workspace.index.changed([uri])
    assert await workspace.find("land") == ["harbour.py"]


async def test_literal_search_matches_the_exact_text_only(workspace: IndexedWorkspace) -> None:
    await workspace.ready()
    assert await workspace.find("moo", mode=SearchMode.KEYWORD) == ["harbour.py", "tides.md"]
    assert await workspace.find('"return boat"', mode=SearchMode.KEYWORD) == ["harbour.py"]


async def test_files_hidden_since_are_not_in_the_answer(workspace: IndexedWorkspace) -> None:
    await workspace.ready()
    (workspace.root / ".stetignore").write_text("tides.md\n")
    assert "tides.md" not in await workspace.find("moon")


async def test_killed_process_is_reported_once_and_answers_again(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "RESTART_SECONDS", 0.01)
    await workspace.ready()
    for _ in range(2):
        process = workspace.index._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        await workspace.until(lambda state: state.stage is Stage.STARTING)
        await workspace.until(lambda state: state.stage is Stage.READY)
        assert await workspace.find("moor") == ["harbour.py"]
    assert workspace.reported == ["Stet: the search index stopped unexpectedly and is restarting."]


async def test_only_what_was_read_at_two_deaths_in_a_row_is_left_out(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "RESTART_SECONDS", 0.01)
    await workspace.ready()
    moon, poem = (uri_of(workspace.root / name) for name in ("tides.md", "poem.txt"))
    for read in ([moon], [moon, poem]):
        (workspace.root / "tides.md").write_text(f"# Tides\n\nThe moon pulls {len(read)} waters.\n")
        process = workspace.index._process
        assert process is not None
        workspace.index._on_message(process, {"is": "reading", "uris": read})
        os.kill(process.pid, signal.SIGKILL)
        await workspace.until(lambda state: state.stage is Stage.STARTING)
        await workspace.until(lambda state: state.stage is Stage.READY)
    assert workspace.index._avoided == [moon]
    assert "poem.txt" in await workspace.find("ship")


async def test_an_error_on_the_way_to_an_answer_is_logged_and_the_files_are_scanned_for_that_question(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await workspace.ready()
    process = workspace.index._process
    with monkeypatch.context() as odd:
        odd.setattr(indexing, "N_EXTRA_HITS", "7")  # so that the limit is no number
        for _ in range(indexing.MAX_DEATHS):
            found = await workspace.ask("moor")
            names = [each.name for each in found.passages]
            assert (names, found.used_vectors) == (["harbour.py"], False)
    assert caplog.text.count("the search index could not answer:") == indexing.MAX_DEATHS
    assert "TypeError" in caplog.text
    assert (await workspace.ask("moor")).used_vectors  # the index has answered
    assert (workspace.index._process, workspace.reported) == (process, [])


async def test_a_process_that_dies_again_and_again_is_given_up_and_files_are_scanned(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "RESTART_SECONDS", 0.01)
    monkeypatch.setattr("stet.search.index_process.MODULE", "stet.no_such_module")
    await workspace.index.ensure_current(workspace.workspace.snapshot())
    await workspace.until(lambda state: state.stage is Stage.FAILED)
    assert await workspace.find("moor") == ["harbour.py"]
    assert len(workspace.reported) == 2
    assert "Searches read the files instead" in workspace.reported[-1]


@pytest.mark.parametrize("broken", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5000])
async def test_damaged_index_is_rebuilt_and_reported_once(
    workspace: IndexedWorkspace, broken: bytes
) -> None:
    await workspace.ready()
    await workspace.index.close()
    await workspace.tasks.close()
    workspace.tasks = Tasks()
    (path,) = (workspace.root.parent / "cache").rglob("index.db")
    path.write_bytes(broken)
    workspace.index = workspace.new_index()
    await workspace.ready()
    assert await workspace.find("moor") == ["harbour.py"]
    assert len(workspace.reported) == 1
    assert "rebuilding it" in workspace.reported[0]


async def test_two_servers_on_one_workspace_have_an_index_each(workspace: IndexedWorkspace) -> None:
    other = workspace.new_index()
    await workspace.ready()
    await workspace.ready(other)
    workspace.open("harbour.py", "def set_sail(): pass\n")
    assert await workspace.find("sail") == ["harbour.py", "poem.txt"]
    assert await workspace.find("moor", other) == []
    names = {path.name for path in (workspace.root.parent / "cache").rglob("*.db")}
    assert names == {"index.db", "index-2.db"}
    await other.close()


async def test_index_files_are_readable_by_their_owner_only(workspace: IndexedWorkspace) -> None:
    await workspace.ready()
    for path in (workspace.root.parent / "cache").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


async def test_an_index_that_was_given_up_can_be_tried_again(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "MAX_DEATHS", 1)
    with monkeypatch.context() as broken:
        broken.setattr("stet.search.index_process.MODULE", "stet.no_such_module")
        await workspace.index.ensure_current(workspace.workspace.snapshot())
        await workspace.until(lambda state: state.stage is Stage.FAILED)
    workspace.index.retry()
    await workspace.ready()
    assert await workspace.find("moor") == ["harbour.py"]


async def test_index_watches_files_for_an_editor_without_file_events(
    workspace: IndexedWorkspace,
) -> None:
    workspace.index = IndexedWorkspace(workspace.root, watches=False).index
    await workspace.ready()
    (workspace.root / "deep").mkdir()
    (workspace.root / "deep" / "pier.py").write_text("def land(): pass\n")
    (workspace.root / "harbour.py").unlink()
    async with asyncio.timeout(WAIT_SECONDS):
        while (
            "deep/pier.py" not in (found := await workspace.find("land")) or "harbour.py" in found
        ):
            pass


async def test_a_workspace_below_a_folder_of_no_interest_is_watched_too(
    workspace: IndexedWorkspace,
) -> None:
    root = workspace.root / "node_modules" / "pkg"
    root.mkdir(parents=True)
    (root / "mast.py").write_text("def step(): pass\n")
    workspace = IndexedWorkspace(root, watches=False)
    await workspace.ready()
    async with asyncio.timeout(WAIT_SECONDS):
        number = 0
        while not await workspace.find("land"):  # it may not watch yet when it is ready
            number += 1
            (root / f"pier{number}.py").write_text("def land(): pass\n")
    await workspace.close()


async def test_between_questions_nothing_is_begun_as_long_as_folders_and_settings_are_the_same(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workspace.ready()
    process = workspace.index._process
    asked: list[str] = []

    def watched(cache: Path, roots: Iterable[str]) -> Path:
        asked.append("folder")
        return index_folder(cache, roots)

    monkeypatch.setattr(indexing, "index_folder", watched)
    assert await workspace.find("moor") == ["harbour.py"]
    assert (asked, workspace.index._process) == ([], process)
    workspace.workspace.with_settings(Settings(search=SearchSettings(embeddings="off")))
    await workspace.index.ensure_current(workspace.workspace.snapshot())
    assert (asked, workspace.index._process is process) == (["folder"], False)


async def test_names_and_texts_with_halves_of_characters_end_nothing(
    workspace: IndexedWorkspace, caplog: pytest.LogCaptureFixture
) -> None:
    odd = workspace.root / os.fsdecode(b"quay\xe9.py")
    odd.write_text("def moor_at_quay(): pass\n")
    await workspace.ready()
    process = workspace.index._process
    assert await workspace.find("quay") == []  # a walk leaves it out
    workspace.index.changed([uri_of(odd)])
    assert await workspace.find("quay") == []
    assert "are skipped" in caplog.text
    workspace.open(odd.name, "def moor_at_quay(boat): pass\n")  # open in the editor it is found
    assert await workspace.find("quay") == [odd.name]
    names = {"half.md", "half.py", "half.js", "half.rs", "half.txt"}
    for at, name in enumerate(sorted(names)):
        half = (
            f"# A \ud83d quay{at}\n\nfunction q\ud83dy() {{ quay }}\ndef quay\udc00{at}(): quay\n"
        )
        workspace.open(name, half)
    assert names <= set(await workspace.find("quay \udfff", limit=40))
    assert (workspace.index._process, workspace.reported) == (process, [])


async def test_a_document_or_folder_with_an_odd_name_ends_nothing(
    workspace: IndexedWorkspace,
) -> None:
    await workspace.ready()
    process = workspace.index._process
    root = uri_of(workspace.root)
    for uri in ("file:", "file:///", root, f"{root}/.", f"{root}/%00", "untitled:", "untitled:/"):
        workspace.workspace.apply(
            Modification(ModificationKind.OPENED, uri, text="lantern\n", version=1, language_id="x")
        )
    workspace.index.changed(["", "file:", "file:///%00", f"{root}/%ED%A0%80", f"{root}/\ud800"])
    assert await workspace.find("moor") == ["harbour.py"]
    assert (await workspace.ask("lantern")).passages
    assert (workspace.index._process, workspace.reported) == (process, [])
