"""`open_file` and `copy_files`: what the user is shown, and the model is not."""

from stet.settings.values import EditSettings, Settings
from stet.tools.copy_files import COPY_FILES
from stet.tools.editor_actions import EditorActions, OpenFileRequest
from stet.tools.open_file import OPEN_FILE
from stet.tools.tool import ToolContext
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace

FILES: dict[str, str | bytes] = {
    "/ws/b.md": "# B\n```\ncode\n```",
    "/ws/pic.png": b"\x89PNG\0",
    "/ws/.env": "KEY=1",
    "/ws/sub/c.txt": "",
}


def context_of(settings: Settings | None = None) -> ToolContext:
    return make_tool_context(
        make_workspace(FILES, opened={"/ws/a.py": "x = 2\ny = 1\n"}, settings=settings)
    )


async def test_a_file_is_opened_at_a_line_and_counts_as_not_read() -> None:
    ctx = context_of()
    assert await use(OPEN_FILE, ctx, file="a.py", line=2) == (
        "a.py is shown to the user at line 2.\n"
    )
    assert await use(OPEN_FILE, ctx, file="pic.png") == "pic.png is shown to the user.\n"
    assert ctx.reader.report.files_to_open == [
        OpenFileRequest("file:///ws/a.py", 2),
        OpenFileRequest("file:///ws/pic.png"),
    ]
    assert ctx.reader.report.files_read == []
    assert len(ctx.reader.shown) == 0


async def test_files_that_are_not_opened_are_reported() -> None:
    ctx = context_of()
    assert await use(OPEN_FILE, ctx, file="a.py", line=3) == (
        "Error: 'a.py' has 2 lines; line 3 is past the end."
    )
    assert "There is no file 'c.py'. `list_files`" in await use(OPEN_FILE, ctx, file="c.py")
    assert "contains `..`" in await use(OPEN_FILE, ctx, file="../x", line=1)
    assert "Refused by the rule secret" in await use(OPEN_FILE, ctx, file=".env", line=1)
    quiet = context_of(Settings(edit=EditSettings(can_navigate=False)))
    assert "edit.canNavigate" in await use(OPEN_FILE, quiet, file="a.py")
    assert ctx.reader.report.files_to_open == quiet.reader.report.files_to_open == []


async def test_files_are_gathered_in_one_document_that_no_text_can_end() -> None:
    shown: list[tuple[str, str]] = []

    async def present(stem: str, text: str) -> None:
        shown.append((stem, text))

    ctx = context_of()
    ctx.editor = EditorActions(show_document=present)
    answer = await use(COPY_FILES, ctx, files=["a.py", "b.md", "a.py", ".env", "sub", "sub/c.txt"])
    assert shown == [
        (
            "copied",
            "## a.py\n\n```py\nx = 2\ny = 1\n```\n\n"
            "## b.md\n\n````md\n# B\n```\ncode\n```\n````\n\n"
            "## sub/c.txt\n\n```txt\n```\n",
        )
    ]
    head, *left_out = answer.split("Left out: ")
    assert head == "Shown to the user, 3 files, 28 characters:\na.py\nb.md\nsub/c.txt\n"
    assert "looks like a secret" in left_out[0]
    assert "'sub' is a folder" in left_out[1]
    assert "KEY=1" not in answer + shown[0][1]
    assert ctx.reader.report.copied == ["a.py", "b.md", "sub/c.txt"]
    assert (ctx.reader.report.files_read, len(ctx.reader.shown)) == ([], 0)


async def test_empty_and_too_long_lists_are_refused() -> None:
    ctx = context_of()
    nothing = await use(COPY_FILES, ctx, files=["pic.png", "none.md"])
    assert nothing.startswith("Error: None of these files can be copied. `list_files` gives names.")
    assert "'pic.png' is not a text file" in nothing
    big: dict[str, str | bytes] = {f"/ws/{n}.txt": "x" * 500_000 for n in range(5)}
    ctx = make_tool_context(make_workspace(big))
    answer = await use(COPY_FILES, ctx, files=[f"{n}.txt" for n in range(5)])
    assert answer == (
        "Error: These files have 2,500,000 characters; the maximum is 2,000,000. Name fewer."
    )
    assert ctx.reader.report.copied == []


async def test_unwritable_document_is_reported_to_the_model() -> None:
    async def full(stem: str, text: str) -> None:
        raise OSError(28, "No space left on device")

    ctx = context_of()
    ctx.editor = EditorActions(show_document=full)
    assert "No space left" in await use(COPY_FILES, ctx, files=["a.py"])
    assert ctx.reader.report.copied == []
