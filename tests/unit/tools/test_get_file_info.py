"""What the tools say of folders, outlines, tags, properties and files."""

import pytest
from pydantic import ValidationError

from stet.review.resolve.prepared_edit import prepare_or_reject
from stet.settings.values import ContextSettings, Settings
from stet.text.edit import Replacement, TextEdit
from stet.text.render import MAX_CHARACTERS
from stet.tools.explore_structure import EXPLORE_STRUCTURE
from stet.tools.get_attached_context import GET_ATTACHED_CONTEXT
from stet.tools.get_file_info import GET_FILE_INFO
from stet.tools.get_properties import GET_PROPERTIES
from stet.tools.list_tags import LIST_TAGS
from stet.tools.tool import Tool
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace

NOTE = "---\ntags: [Plan]\nrating: 4\nday: 2026-05-01\nnested: {a: [x, null]}\n---\n# Title\n\n#idea [[b]]\n"
FILES: dict[str, str | bytes] = {
    "/ws/a.md": NOTE,
    "/ws/sub/b.md": "## Only\n\n#Idea #plan\n",
    "/ws/sub/deep/er/c.py": "def f():\n    pass\n",
    "/ws/pic.png": b"\0",
    "/ws/private/x.md": "#hidden\n",
}
HIDDEN = Settings(context=ContextSettings(excluded_folders=("private",)))


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        (
            EXPLORE_STRUCTURE,
            {},
            "./ (4 files: 2 .md, 1 .png, 1 .py)\n"
            "  sub/ (2 files: 1 .md, 1 .py)\n"
            "    deep/ (1 file: 1 .py)\n"
            "      er/ (1 file: 1 .py)\n",
        ),
        (
            EXPLORE_STRUCTURE,
            {"depth": 1},
            "./ (4 files: 2 .md, 1 .png, 1 .py)\n"
            "  sub/ (2 files: 1 .md, 1 .py, folders inside not shown)\n",
        ),
        *(
            (
                EXPLORE_STRUCTURE,
                {"folder": folder, "depth": 1},
                "./ (4 files: 2 .md, 1 .png, 1 .py)\n"
                "  sub/ (2 files: 1 .md, 1 .py, folders inside not shown)\n",
            )
            for folder in ("/ws", "/ws/", "ws", ".")
        ),
        (
            EXPLORE_STRUCTURE,
            {"folder": "sub/deep"},
            "sub/deep/ (1 file: 1 .py)\n  er/ (1 file: 1 .py)\n",
        ),
        (EXPLORE_STRUCTURE, {"file": "a.md"}, "a.md (9 lines)\n     7  # Title\n"),
        (
            EXPLORE_STRUCTURE,
            {"file": "sub/deep/er/c.py"},
            "sub/deep/er/c.py (2 lines)\n     1  def f():\n",
        ),
        (LIST_TAGS, {}, "#idea: 2 notes\n#Plan: 2 notes\n"),
        (LIST_TAGS, {"folder": "sub"}, "#Idea: 1 note\n#plan: 1 note\n"),
        (LIST_TAGS, {"folder": "private"}, "No note below 'private' has a tag.\n"),
        (
            GET_PROPERTIES,
            {"file": "a.md"},
            'tags: ["Plan"]\nrating: 4\nday: 2026-05-01\nnested: {"a": ["x", null]}\n',
        ),
        (
            GET_PROPERTIES,
            {"file": "sub/b.md"},
            "sub/b.md has no properties. `update_properties` can set some.\n",
        ),
    ],
)
async def test_tool_reports_the_contents(
    tool: Tool, arguments: dict[str, object], answer: str
) -> None:
    assert (
        await use(tool, make_tool_context(make_workspace(FILES, settings=HIDDEN)), **arguments)
        == answer
    )


@pytest.mark.parametrize("tool", [EXPLORE_STRUCTURE, GET_PROPERTIES, GET_FILE_INFO])
@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("gone.md", "Error: There is no file 'gone.md'."),
        ("private/x.md", "Error: 'private' is an excluded folder."),
        ("../x.md", "Error: '../x.md'"),
        ("sub", "Error: 'sub' is a folder or a device, not a file."),
    ],
)
async def test_what_may_not_be_shown_is_refused(tool: Tool, file: str, error: str) -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    assert (await use(tool, ctx, file=file)).startswith(error)


async def test_the_info_of_a_file_has_all_that_is_known() -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    assert await use(GET_FILE_INFO, ctx, file="a.md") == (
        f"file: a.md\nlanguage: markdown\ncharacters: {len(NOTE)}\nlines: 9\nwords: "
        f"{len(NOTE.split())}\nsize on disk: {len(NOTE)} bytes\nlast written: "
        "2023-11-14T22:13:20Z\nstate: not open\nlinks: 1 to files here, 0 from other "
        "files\ntags: #Plan, #idea\npending hunks: 0\n"
    )
    assert ctx.reader.report.files_read == []


async def test_file_info_reports_open_unsaved_and_pending() -> None:
    opened = {"/ws/sub/b.md": "new\n", "/ws/a.md": NOTE, "untitled:u": "u\n"}
    ctx = make_tool_context(make_workspace(FILES, opened=opened))
    await ctx.reader.read("a.md")
    live = await ctx.reader.document_to_edit("a.md")
    at = live.text.index("Title")
    edit = TextEdit((Replacement(at, at + 5, "Topic"),))
    ready = prepare_or_reject(
        ctx.proposer.edit_draft(live, "a.md", edit, "Rename"), ctx.proposer.rules
    )
    [hunk] = ctx.proposer.propose_prepared(ready, position="title")
    saved = await use(GET_FILE_INFO, ctx, file="a.md")
    assert "state: open, saved\n" in saved
    assert f"pending hunks: 1, yours: {hunk.id}\n" in saved
    assert "state: open, with unsaved changes\n" in await use(GET_FILE_INFO, ctx, file="sub/b.md")
    untitled = await use(GET_FILE_INFO, ctx, file="untitled:u")
    assert "on disk: no\nstate: open, never saved\n" in untitled


async def test_a_file_without_text_has_info_too() -> None:
    assert await use(GET_FILE_INFO, make_tool_context(make_workspace(FILES)), file="pic.png") == (
        "file: pic.png\nkind: 'pic.png' is not a text file.\nsize on disk: 1 bytes\nlast "
        "written: 2023-11-14T22:13:20Z\npending hunks: 0\n"
    )


async def test_reading_properties_or_an_outline_shows_the_file() -> None:
    ctx = make_tool_context(make_workspace(FILES))
    await use(GET_PROPERTIES, ctx, file="a.md")
    await use(EXPLORE_STRUCTURE, ctx, file="sub/b.md")
    assert ctx.reader.report.files_read == ["a.md", "sub/b.md"]
    assert ctx.proposer.rules.editable("file:///ws/a.md")


@pytest.mark.parametrize(
    ("files", "tool", "arguments", "answer"),
    [
        (
            {"/ws/a.md": "---\nx: [1\n---\n"},
            GET_PROPERTIES,
            {"file": "a.md"},
            "Error: 'a.md', line 3: ",
        ),
        (
            {"/ws/a.py": "x\n"},
            GET_PROPERTIES,
            {"file": "a.py"},
            "Error: 'a.py' is not a Markdown note and has no front matter: `read_file` it.",
        ),
        (
            {"/ws/a.txt": "x\n"},
            EXPLORE_STRUCTURE,
            {"file": "a.txt"},
            "a.txt (1 line) has no headings or definitions that can be told. `read_file` shows it.",
        ),
        ({"/ws/a.txt": "x\n"}, EXPLORE_STRUCTURE, {"folder": "none"}, "Error: There are no files"),
        ({}, EXPLORE_STRUCTURE, {}, "Error: There are no files in the workspace."),
        ({"/ws/a.md": "x\n"}, LIST_TAGS, {}, "No note has a tag.\n"),
        ({}, LIST_TAGS, {"folder": "/else"}, "Error: 'else' is outside the workspace."),
        ({}, GET_ATTACHED_CONTEXT, {}, "No file is open and nothing is attached."),
    ],
)
async def test_empty_results_are_reported(
    files: dict[str, str | bytes], tool: Tool, arguments: dict[str, object], answer: str
) -> None:
    assert (await use(tool, make_tool_context(make_workspace(files)), **arguments)).startswith(
        answer
    )


@pytest.mark.slow
async def test_long_answers_are_cut_and_report_how_to_continue() -> None:
    files: dict[str, str | bytes] = {
        "/ws/a.md": "".join(f"# Heading number {n}\n#tag{'x' * 30}{n}\n\n" for n in range(1500)),
        "/ws/p.md": "---\n" + "".join(f"p{n}: {'x' * 90}\n" for n in range(400)) + "---\n",
    }
    files |= {f"/ws/{'folder' * 20}{n}/a.txt": "" for n in range(200)}
    ctx = make_tool_context(make_workspace(files))
    asked: list[tuple[Tool, dict[str, object]]] = [
        (EXPLORE_STRUCTURE, {"file": "a.md"}),
        (EXPLORE_STRUCTURE, {}),
        (LIST_TAGS, {}),
        (GET_PROPERTIES, {"file": "p.md"}),
    ]
    for tool, arguments in asked:
        answer = await use(tool, ctx, **arguments)
        assert len(answer) < MAX_CHARACTERS + 200, tool.name
        assert answer.splitlines()[-1].startswith("(cut: "), tool.name


async def test_control_characters_are_escaped() -> None:
    text = "---\n'a\x7fb': \u202ex\n---\n# T\u202e\x1b[0m\n"
    ctx = make_tool_context(make_workspace({"/ws/a.md": text}))
    assert "# T\\u202e\\x1b[0m" in await use(EXPLORE_STRUCTURE, ctx, file="a.md")


def test_a_file_and_a_folder_together_are_refused() -> None:
    with pytest.raises(ValidationError, match="file or folder, not both"):
        EXPLORE_STRUCTURE.params.model_validate({"file": "a.md", "folder": "sub"})
