"""The answer for a missing file contains similar names of visible files."""

import pytest

from stet.settings.values import PrivacySettings, Settings
from stet.tools.edit_file import EDIT_FILE
from stet.tools.read_file import READ_FILE
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace

FILES = dict.fromkeys(
    ["src/app.py", "src/util/app.py", "src/helpers.py", "docs/README.md", ".env", "hidden/appl.py"],
    "x\n",
)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("app.py", "Did you mean 'src/app.py' or 'src/util/app.py'?"),
        ("src/utils/app.py", "Did you mean 'src/util/app.py' or 'src/app.py'?"),
        ("src/helper.py", "Did you mean 'src/helpers.py'?"),
        ("README.MD", "Did you mean 'docs/README.md'?"),
        ("docs/readme", "Did you mean 'docs/README.md'?"),
        ("nothing-like-it.txt", "`list_files` gives the names."),
        (".envs", "`list_files` gives the names."),
    ],
)
async def test_names_of_visible_files_only_are_reported(name: str, near: str) -> None:
    settings = Settings(privacy=PrivacySettings(deny=("hidden/",)))
    world = make_workspace({f"/ws/{each}": text for each, text in FILES.items()}, settings=settings)
    read = await use(READ_FILE, make_tool_context(world), file=name)
    assert read == f"Error: There is no file {name!r}. {near}"
    edited = await use(EDIT_FILE, make_tool_context(world), file=name, old_text="x", new_text="y")
    assert edited.endswith(near)


async def test_a_file_that_may_not_be_shown_gets_no_names() -> None:
    settings = Settings(privacy=PrivacySettings(deny=("hidden/",)))
    world = make_workspace({f"/ws/{each}": text for each, text in FILES.items()}, settings=settings)
    assert "Did you mean" not in await use(
        READ_FILE, make_tool_context(world), file="hidden/appl.py"
    )
