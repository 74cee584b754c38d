"""What the tools for links show: `get_links` and `find_dead_links`."""

import pytest
from pydantic import ValidationError

from stet.settings.values import ContextSettings, Settings
from stet.text.render import MAX_CHARACTERS
from stet.tools.find_dead_links import FIND_DEAD_LINKS
from stet.tools.get_links import GET_LINKS
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace

FILES: dict[str, str | bytes] = {
    "/ws/home.md": "# Home\n\nSee [[guide]] and [[Giude]], ![p](pic.png).\n",
    "/ws/docs/guide.md": "Back [home](../home.md).\n\n[[deep]]\n",
    "/ws/docs/deep.md": "Nothing.\n",
    "/ws/pic.png": b"\0",
    "/ws/app.py": "import os\nfrom lib import f\n",
    "/ws/lib.py": "f = 1\n",
    "/ws/private/secret.md": "[[home]] [[nowhere]]\n",
}
HIDDEN = Settings(context=ContextSettings(excluded_folders=("private",)))


async def test_links_are_shown_in_both_directions_with_their_lines() -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    assert await use(GET_LINKS, ctx, file="home.md") == (
        "home.md links to:\n"
        "  3: See [[guide]] and [[Giude]], ![p](pic.png). -> docs/guide.md; 'Giude' (no file); "
        "'pic.png' (a file without text, or one not shown)\n"
        "Links to home.md:\n"
        "  docs/guide.md:1: Back [home](../home.md).\n"
    )
    assert await use(GET_LINKS, ctx, file="app.py", direction="out") == (
        "app.py links to:\n"
        "  2: from lib import f -> lib.py\n"
        "  (2 imports of what is not in the workspace)\n"
    )
    assert await use(GET_LINKS, ctx, file="docs/deep.md", direction="out") == (
        "docs/deep.md links to no file.\n"
    )


async def test_links_are_followed_as_far_as_asked() -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    near = await use(GET_LINKS, ctx, file="home.md", direction="out")
    assert "deep.md" not in near
    far = await use(GET_LINKS, ctx, file="home.md", direction="out", depth=3)
    assert far.startswith(near)
    assert far[len(near) :] == (
        "docs/guide.md (1 step away) links to:\n"
        "  1: Back [home](../home.md). -> home.md\n"
        "  3: [[deep]] -> docs/deep.md\n"
        "docs/deep.md (2 steps away) links to no file.\n"
    )
    assert await use(GET_LINKS, ctx, file="docs/deep.md", direction="back", depth=2) == (
        "Links to docs/deep.md:\n"
        "  docs/guide.md:3: [[deep]]\n"
        "Links to docs/guide.md (1 step away):\n"
        "  home.md:3: See [[guide]] and [[Giude]], ![p](pic.png).\n"
    )


async def test_unsaved_links_count() -> None:
    ctx = make_tool_context(make_workspace(FILES, opened={"/ws/docs/deep.md": "new [[home]]\n"}))
    assert "  docs/deep.md:1: new [[home]]\n" in await use(GET_LINKS, ctx, file="home.md")


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("gone.md", "Error: There is no file 'gone.md'. `list_files` gives the names there are."),
        ("private/secret.md", "Error: 'private' is an excluded folder."),
        ("../x.md", "Error: '../x.md'"),
    ],
)
async def test_links_of_what_is_not_there_are_refused(file: str, error: str) -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    assert (await use(GET_LINKS, ctx, file=file)).startswith(error)
    assert (await use(FIND_DEAD_LINKS, ctx, file=file)).startswith(error)


@pytest.mark.slow
async def test_many_links_are_cut_and_the_answer_reports_how_to_continue() -> None:
    files: dict[str, str | bytes] = {"/ws/a.md": "A\n"}
    files |= {f"/ws/n{n}.md": f"{'x' * 150} [[a]] [[gone{n}]]\n" for n in range(600)}
    ctx = make_tool_context(make_workspace(files))
    for answer in (await use(GET_LINKS, ctx, file="a.md"), await use(FIND_DEAD_LINKS, ctx)):
        assert len(answer) < MAX_CHARACTERS + 200
        assert "(cut: " in answer.splitlines()[-1]


async def test_dead_links_come_with_their_lines_and_near_names() -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    everywhere = await use(FIND_DEAD_LINKS, ctx)
    assert everywhere == "home.md:3: 'Giude' does not exist (similar: docs/guide.md)\n"
    assert await use(FIND_DEAD_LINKS, ctx, file="home.md") == everywhere
    assert await use(FIND_DEAD_LINKS, ctx, folder="docs") == "No dead links in docs.\n"
    ctx = make_tool_context(make_workspace({"/ws/a.md": "[[guides]]\n", "/ws/docs/guide.md": ""}))
    assert await use(FIND_DEAD_LINKS, ctx, folder=".") == (
        "a.md:1: 'guides' does not exist (similar: docs/guide.md)\n"
    )


async def test_folder_without_files_is_reported() -> None:
    ctx = make_tool_context(make_workspace(FILES, settings=HIDDEN))
    for folder in ("none", "private"):
        assert (await use(FIND_DEAD_LINKS, ctx, folder=folder)) == (
            f"Error: There are no files below {folder!r}. `list_files` gives the names."
        )


def test_file_and_folder_together_are_refused() -> None:
    with pytest.raises(ValidationError, match="file or folder, not both"):
        FIND_DEAD_LINKS.params.model_validate({"file": "a.md", "folder": "docs"})
    with pytest.raises(ValidationError, match="depth"):
        GET_LINKS.params.model_validate({"file": "a.md", "depth": 4})


async def test_names_and_lines_that_act_are_shown_as_text() -> None:
    ctx = make_tool_context(make_workspace({"/ws/a.md": "\x1b[8m [[go\u202ene]]\n"}))
    assert await use(FIND_DEAD_LINKS, ctx) == "a.md:1: 'go\\u202ene' does not exist\n"
    assert "  1: \\x1b[8m [[go\\u202ene]] -> " in await use(GET_LINKS, ctx, file="a.md")
