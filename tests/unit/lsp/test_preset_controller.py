"""Presets: whose counts, what is unclear, and what comes back from a database."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stet.lsp.preset_controller import (
    MAX_ATTACHED,
    ContextChange,
    ContextChangeRefused,
    PresetController,
    UnknownPreset,
    from_json,
    to_json,
)
from stet.settings.values import ContextSettings, PresetSettings, Settings
from stet.storage.schema import MIGRATIONS, open_database
from stet.workspace.attachments import Attachments
from tests.support.state_stores import TestedStore, query, store_in
from tests.support.workspaces import make_workspace

A, B = "file:///ws/a.md", "file:///ws/b.md"
FILES = {"/ws/a.md": "", "/ws/b.md": "", **{f"/ws/many/{n}.md": "" for n in range(MAX_ATTACHED)}}
SET = Settings(
    context=replace(
        ContextSettings(), presets=(PresetSettings("api", ("a.md",)), PresetSettings("Notes"))
    )
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TestedStore]:
    """A database of the test's own."""
    with store_in(tmp_path) as opened:
        yield opened


@pytest.fixture
def presets(store: TestedStore) -> PresetController:
    """Two in the settings, none saved."""
    return PresetController(make_workspace(FILES, settings=SET), store)


def origins(presets: PresetController) -> list[tuple[str, str]]:
    """Return the presets as the editor gets them: name and origin."""
    presets_state: Any = presets.state()["presets"]
    return [(one["name"], one["from"]) for one in presets_state]


def test_the_saved_preset_of_a_name_counts_until_it_is_deleted(presets: PresetController) -> None:
    presets.change(ContextChange(add=("b.md",), save="api"))
    assert presets.preset_attachments("API") == Attachments((B,))
    assert origins(presets) == [
        ("api", "saved"),
        ("Notes", "settings"),
    ]
    presets.change(ContextChange(delete="api"))
    assert presets.preset_attachments("api") == Attachments((A,))
    with pytest.raises(ContextChangeRefused, match="the preset 'api' is defined in the settings"):
        presets.change(ContextChange(delete="api"))


def test_names_that_differ_in_case_only_must_be_written_as_they_are(
    presets: PresetController,
) -> None:
    presets.change(ContextChange(add=("b.md",), save="API"))
    assert presets.preset_attachments("API") == Attachments((B,))
    assert presets.preset_attachments("api") == Attachments((A,))
    with pytest.raises(UnknownPreset, match="'Api' could be 'API' or 'api': be more specific"):
        presets.preset_attachments("Api")


def test_unknown_name_is_answered_with_the_nearest(presets: PresetController) -> None:
    with pytest.raises(UnknownPreset, match="there is no preset 'note'; did you mean 'Notes'\\?"):
        presets.preset_attachments("note")


def test_change_is_applied_as_a_whole_or_not_at_all(presets: PresetController) -> None:
    presets.change(ContextChange(add=("a.md",), scope="linked", link_depth=2))
    before = presets.state()
    for invalid in (
        ContextChange(clear=True, add=("b.md", "gone.md")),
        ContextChange(add=("b.md",), save=" "),
        ContextChange(clear=True, remove=("a.md",)),
        ContextChange(load="Notes", save="empty"),
        ContextChange(add=tuple(f"many/{n}.md" for n in range(MAX_ATTACHED))),
        ContextChange(add=("b.md",), save="new", delete="none"),
    ):
        with pytest.raises((ContextChangeRefused, UnknownPreset)):
            presets.change(invalid)
    assert presets.state() == before
    assert [name for name, _ in origins(presets)] == ["api", "Notes"]


async def test_what_is_attached_is_not_known_before_it_is_restored(store: TestedStore) -> None:
    world = make_workspace(FILES)
    first = PresetController(world, store)
    before = world.attachments
    await first.restore()
    assert (before, world.attachments) == (None, Attachments())
    first.change(ContextChange(add=("a.md",), link_depth=0, save="p"))
    other = make_workspace(FILES)
    second = PresetController(other, store)
    await second.restore()
    assert other.attachments == Attachments((A,), link_depth=0)
    assert second.preset_attachments("p") == other.attachments


OLD_ROW = (
    '{"files": ["file:///ws/a.md"], "folders": ["file:///ws/many"], '
    '"scope": "linked", "linkDepth": 2}'
)
"""As versions before decision 54 wrote it."""
OLD = Attachments((A,), ("file:///ws/many",), "linked", 2)


async def test_a_database_of_an_earlier_version_is_opened_with_all_presets(
    store: TestedStore,
) -> None:
    store.folder.mkdir(parents=True)
    open_database(store.file, MIGRATIONS[:3]).close()
    query(store.file, "INSERT INTO preset VALUES (?, 1.0, ?)", '"old"', OLD_ROW)
    query(store.file, "INSERT INTO attached VALUES (1, 'dead', 1.0, ?)", OLD_ROW)
    world = make_workspace(FILES, settings=SET)
    presets = PresetController(world, store)
    await presets.restore()
    assert world.attachments == presets.preset_attachments("old") == OLD
    assert store.messages == []


def test_an_earlier_version_opens_the_database_and_reads_its_rows(store: TestedStore) -> None:
    presets = PresetController(make_workspace(FILES), store)
    presets.change(ContextChange(add=("a.md", "many"), scope="linked", link_depth=2, save="new"))
    assert query(store.file, "PRAGMA user_version") == [(4,)]  # no later layout than it knows
    assert query(store.file, "SELECT name, fields FROM preset") == [('"new"', OLD_ROW)]
    assert query(store.file, "SELECT fields FROM attached") == [(OLD_ROW,)]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (
            json.dumps(to_json(Attachments((A,), (B,), "open", 3))),
            Attachments((A,), (B,), "open", 3),
        ),
        ('{"files": ["git:x", 5, "file:///ws/a.md"], "folders": {}}', Attachments((A,))),
        ('{"scope": ["open"], "linkDepth": 4}', Attachments()),
        ('{"scope": "all", "linkDepth": true}', Attachments()),
        ("[]", None),
        ("{", None),
        ("[" * 100_000, None),
    ],
)
def test_rows_of_a_database_are_validated(fields: str, found: Attachments | None) -> None:
    assert from_json(fields) == found
