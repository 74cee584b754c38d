"""Which files `query_files` finds."""

import pytest
from pydantic import ValidationError

from stet.settings.values import ContextSettings, Settings
from stet.text.render import MAX_CHARACTERS
from stet.tools.query_files import QUERY_FILES
from tests.support.agent_harness import make_tool_context, use
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import make_workspace

FILES: dict[str, str | bytes] = {
    "/ws/a.md": "---\ntags: [Project/alpha]\nrating: 4\ndue: 2026-05-01\n---\n- [ ] write\n- [x] think\n",
    "/ws/b.md": "---\nrating: 12\nstatus: done\n---\n#project [[a]]\n",
    "/ws/sub/c.md": "#projector\n\n- [x] all DONE\n",
    "/ws/sub/d.py": "# - [ ] no task\nx = '#project'\n",
    "/ws/broken.md": "---\nrating: [4\n---\n",
    "/ws/private/e.md": "#project\n- [ ] hidden\n",
}
HIDDEN = Settings(context=ContextSettings(excluded_folders=("private",)))
NONE = "No file meets all of that. Leave a condition out; `list_tags` gives the tags.\n"


@pytest.mark.parametrize(
    ("conditions", "answer"),
    [
        ({"tag": "project"}, "a.md\nb.md\n"),
        ({"tag": "#PROJECT/Alpha"}, "a.md\n"),
        ({"tag": "proj"}, NONE),
        ({"property": "Rating"}, "a.md\nb.md\n"),
        ({"property": "rating", "value": ">4"}, "b.md\n"),
        ({"property": "rating", "value": 4}, "a.md\n"),
        ({"property": "rating", "value": "!=4"}, "b.md\n"),
        ({"property": "due", "value": "<=2026-05-01"}, "a.md\n"),
        ({"property": "status", "value": "Done"}, "b.md\n"),
        ({"folder": "sub", "glob": "**/*.md"}, "sub/c.md\n"),
        ({"glob": "/ws/sub/*.md"}, "sub/c.md\n"),
        ({"links_to": "a.md"}, "b.md\n"),
        ({"links_to": "b.md"}, NONE),
        ({"linked_from": "b.md"}, "a.md\n"),
        ({"linked_from": "a.md"}, NONE),
        ({"linked_from": "b.md", "links_to": "a.md"}, NONE),
        ({"property": "status", "value": "~ON"}, "b.md\n"),
        ({"property": "due", "value": "<7d"}, NONE),
        ({"task": "open"}, "a.md\n  6: [ ] write\n"),
        ({"task": "done"}, "a.md\n  7: [x] think\nsub/c.md\n  3: [x] all DONE\n"),
        ({"task": "done", "text": "all done"}, "sub/c.md\n  3: [x] all DONE\n"),
        ({"text": "X = "}, "sub/d.py\n  2: x = '#project'\n"),
        ({"text": "hidden"}, NONE),
        ({"tag": "project", "property": "status", "text": "[[A]]"}, "b.md\n  5: #project [[a]]\n"),
    ],
)
async def test_all_conditions_must_hold(conditions: dict[str, object], answer: str) -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    assert await use(QUERY_FILES, ctx, **conditions) == answer


async def test_times_are_compared_and_the_latest_comes_first() -> None:
    world = make_workspace(FILES, opened={"untitled:new": "never written\n"})
    system = world.snapshot().system
    assert isinstance(system, MemorySystem)
    system.add_file("/ws/a.md", "a\n", mtime=1_767_225_600.0)  # 2026-01-01T00:00:00Z
    system.add_file("/ws/b.md", "b\n", mtime=1_767_312_000.0)  # a day later
    ctx = make_tool_context(world)
    assert await use(QUERY_FILES, ctx, modified_after="2026-01-01") == (
        "b.md (written 2026-01-02T00:00:00Z)\na.md (written 2026-01-01T00:00:00Z)\n"
    )
    between = {"modified_after": "2025-12-31T23:59:59Z", "modified_before": "2026-01-02"}
    assert await use(QUERY_FILES, ctx, **between) == "a.md (written 2026-01-01T00:00:00Z)\n"
    assert await use(QUERY_FILES, ctx, modified_before="2020-01-01") == NONE


async def test_a_time_ago_counts_from_now() -> None:
    world = make_workspace({"/ws/fresh.md": "", "/ws/x.md": "---\ndue: 2023-11-10\n---\n"})
    system = world.snapshot().system
    assert isinstance(system, MemorySystem)
    now = system.now()
    system.add_file("/ws/old.md", "---\ndue: 2023-10-01\n---\n", mtime=now - 8 * 86_400)
    system.add_file("/ws/x.md", "---\ndue: 2023-11-10\n---\n", mtime=now - 3 * 3600)
    ctx = make_tool_context(world)
    week = await use(QUERY_FILES, ctx, modified_after="7d", glob="*.md")
    assert [line.split()[0] for line in week.splitlines()] == ["fresh.md", "x.md"]
    early = await use(QUERY_FILES, ctx, modified_before="1w")
    assert early.startswith("old.md (written ")
    assert await use(QUERY_FILES, ctx, modified_before="4h", modified_after="1d") == NONE
    assert await use(QUERY_FILES, ctx, property="due", value=">2w") == "x.md\n"
    assert await use(QUERY_FILES, ctx, property="due", value="<=2w") == "old.md\n"


async def test_unsaved_text_is_what_counts() -> None:
    ctx = make_tool_context(make_workspace(FILES, opened={"/ws/a.md": "#fresh\n"}))
    assert await use(QUERY_FILES, ctx, tag="fresh") == "a.md\n"
    assert await use(QUERY_FILES, ctx, tag="project/alpha") == NONE


async def test_what_is_cut_is_counted() -> None:
    files: dict[str, str | bytes] = {f"/ws/n{n:03}.md": "hit\n" * 9 for n in range(400)}
    ctx = make_tool_context(make_workspace(files))
    few = await use(QUERY_FILES, ctx, text="hit", limit=1)
    assert few == (
        "n000.md\n" + "".join(f"  {n}: hit\n" for n in range(1, 6)) + "  (4 more in this file: "
        "`read_file` shows them)\n(cut: 399 more files; add a condition or a folder, or raise limit)\n"
    )
    many = await use(QUERY_FILES, ctx, text="hit", limit=400)
    assert len(many) < MAX_CHARACTERS + 200
    assert "(cut: " in many.splitlines()[-1]


@pytest.mark.parametrize(
    ("conditions", "problem"),
    [
        ({}, "at least one condition"),
        ({"limit": 3}, "at least one condition"),
        ({"value": "4"}, "value needs property"),
        ({"tag": "#"}, "'#' is not a tag; `list_tags` lists all tags"),
        ({"modified_after": "yesterday"}, "'yesterday' is not an ISO date such as 2026-05-31"),
        ({"task": "later", "tag": "a"}, "'open' or 'done'"),
        ({"tags": ["a"]}, "Extra inputs are not permitted"),
    ],
)
def test_invalid_conditions_are_refused(conditions: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        QUERY_FILES.params.model_validate(conditions)


@pytest.mark.parametrize(
    ("conditions", "error"),
    [
        ({"links_to": "gone.md"}, "Error: links_to: There is no file 'gone.md'. `list_files`"),
        ({"linked_from": "gone.md"}, "Error: linked_from: There is no file 'gone.md'. `list_"),
        ({"folder": "/else"}, "Error: 'else' is outside the workspace."),
        ({"glob": "a//b"}, "Error: 'a//b' is not a glob pattern"),
        ({"links_to": "private/e.md"}, "Error: links_to: 'private' is an excluded folder."),
    ],
)
async def test_missing_files_are_reported(conditions: dict[str, object], error: str) -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    assert (await use(QUERY_FILES, ctx, **conditions)).startswith(error)
