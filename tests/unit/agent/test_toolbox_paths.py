"""No refusal contains an absolute path, neither of the user's files nor of a link's target."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from stet.agent.toolbox import ALL_TOOLS, Toolbox
from stet.context.context_builder import EditorLocation, build_context
from stet.llm.model import ToolCall
from stet.settings.values import AgentSettings, PrivacySettings, Settings
from stet.workspace.names import without_folders
from stet.workspace.workspace import Workspace
from tests.support.agent_harness import make_tool_context
from tests.support.workspaces import make_workspace

HOME = "/home/ann"
ROOT = f"{HOME}/ws"
FILES = {
    f"{ROOT}/a.md": "# A\n",
    f"{ROOT}/.env": "KEY=1\n",
    f"{ROOT}/denied/x.md": "x\n",
    f"{ROOT}/.git/config": "x\n",
    f"{ROOT}/.gitignore": "*.log\n",
    f"{ROOT}/out.log": "x\n",
    f"{HOME}/private/x.md": "x\n",
    f"{HOME}/private/.env": "KEY=2\n",
}
LINKS = {
    f"{ROOT}/link.md": f"{HOME}/private/x.md",
    f"{ROOT}/folder": f"{HOME}/private",
    f"{ROOT}/secret.md": f"{ROOT}/.env",
    f"{ROOT}/nowhere.md": f"{HOME}/gone.md",
}
NAMES = [
    f"{HOME}/private/x.md",
    f"{HOME}/private",
    f"{HOME}/private/gone.md",
    f"{HOME}/private/.env",
    f"{HOME}/else.md",
    f"{ROOT}/.env",
    f"{ROOT}/.git/config",
    f"{ROOT}/gone.md",
    f"{ROOT}/denied/x.md",
    f"{ROOT}/denied",
    f"{ROOT}/out.log",
    f"{ROOT}/link.md",
    f"{ROOT}/a.md/under.md",
    f"{ROOT}-evil/x.md",
    f"{ROOT}//a.md",
    f"{ROOT}/../private/x.md",
    ".env",
    "denied/x.md",
    "out.log",
    "link.md",
    "folder",
    "folder/x.md",
    "folder/new.md",
    "secret.md",
    "nowhere.md",
    "../private/x.md",
    f"file://{HOME}/private/x.md",
    f"FILE://localhost{HOME}/private/x.md",
    f"file:{HOME}/private/x.md",
    f"git:{HOME}/private/x.md",
    f"vscode-remote://ssh{HOME}/private/x.md",
    f"untitled:{HOME}/private/x.md",
    f"/{HOME}/private/x.md",
    f" {HOME}/private/x.md",
    f"\u200b{HOME}/private/x.md",
    f"{HOME}/private/x.md\0",
    f'{HOME}/private/it\'s "so".md',
    f"C:\\{HOME}\\private\\x.md",
    f"C:{HOME}/private/x.md",
    f"\\\\host{HOME}/private/x.md",
    f"{HOME}/%2e%2e/x.md",
    f"{HOME}/private/{'x' * 300}.md",
    f"{HOME}/{'y/' * 2500}x.md",
]

Arguments = Callable[[str], Mapping[str, Any]]
CALLS: list[tuple[str, Arguments]] = [
    ("search_workspace", lambda name: {"query": "x", "folder": name}),
    ("read_file", lambda name: {"file": name}),
    ("list_files", lambda name: {"folder": name}),
    ("list_files", lambda name: {"glob": name}),
    ("get_links", lambda name: {"file": name}),
    ("explore_structure", lambda name: {"folder": name}),
    ("explore_structure", lambda name: {"file": name}),
    ("list_tags", lambda name: {"folder": name}),
    ("get_properties", lambda name: {"file": name}),
    ("get_file_info", lambda name: {"file": name}),
    ("find_dead_links", lambda name: {"file": name}),
    ("find_dead_links", lambda name: {"folder": name}),
    ("query_files", lambda name: {"tag": "x", "folder": name}),
    ("query_files", lambda name: {"links_to": name}),
    ("query_files", lambda name: {"linked_from": name}),
    ("edit_file", lambda name: {"file": name, "old_text": "x", "new_text": "y"}),
    ("edit_file", lambda name: {"file": name, "position": "end", "content": "y"}),
    ("edit_file", lambda name: {"file": name, "position": "create", "content": "y"}),
    ("edit_file", lambda name: {"file": "a.md", "position": name, "content": "y"}),
    ("edit_file", lambda name: {"file": name, "position": "open"}),
    ("create_file", lambda name: {"file": name, "content": "y"}),
    ("open_file", lambda name: {"file": name}),
    ("move_file", lambda name: {"file": name, "to": "b.md"}),
    ("move_file", lambda name: {"file": "a.md", "to": name}),
    ("update_properties", lambda name: {"file": name, "set": {"a": 1}}),
    ("add_tags", lambda name: {"file": name, "tags": ["t"]}),
    ("link_files", lambda name: {"file": name, "to": "a.md"}),
    ("link_files", lambda name: {"file": "a.md", "to": name}),
    ("copy_files", lambda name: {"files": [name, "a.md"]}),
    ("delete_file", lambda name: {"file": name, "reason": "old"}),
]


def world() -> Workspace:
    """A workspace with what may not be shown, links out of it, and an open file outside."""
    settings = Settings(
        agent=AgentSettings(disabled_tools=()), privacy=PrivacySettings(deny=("denied",))
    )
    opened = {f"{HOME}/private/.env": "KEY=2\n", f"{ROOT}/a.md": "# A\n"}
    return make_workspace(FILES, opened=opened, links=LINKS, roots=(ROOT,), settings=settings)


def test_every_tool_that_takes_a_name_is_tried() -> None:
    names = {"file", "folder", "to", "files", "links_to", "linked_from"}
    taking = {tool.name for tool in ALL_TOOLS if names & set(tool.params.model_fields)}
    assert taking == {name for name, _ in CALLS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments"), CALLS, ids=[f"{n}-{one[0]}" for n, one in enumerate(CALLS)]
)
async def test_no_tool_returns_an_absolute_path(tool: str, arguments: Arguments) -> None:
    n_refused = 0
    for other, names in (("", NAMES), ("/srv/other", NAMES[::5])):
        workspace = world()
        if other:
            workspace.add_root(f"file://{other}")
        for name in names:
            ctx = make_tool_context(workspace, asked=f"{ROOT}/a.md")
            call = ToolCall("c", tool, json.dumps(arguments(name)))
            box = Toolbox(ALL_TOOLS, ctx)
            outcomes = [await box.run(call)]
            if tool == "edit_file":
                outcomes += await box.run_batch([call, call])
            for outcome in outcomes:
                is_nothing = outcome.text.startswith("There are no files")
                n_refused += bool(outcome.error) or is_nothing or "Left out: " in outcome.text
                if f"{HOME}/private/.env" in name and not outcome.error:
                    continue  # it is open, and has no other name
                assert HOME not in outcome.text, (name, outcome.text)
                assert HOME not in outcome.error, (name, outcome.error)
                assert not re.search(r"""['"](?:[a-z]+:)?/\w""", outcome.text), outcome.text
    assert n_refused > len(NAMES) // 2


@pytest.mark.parametrize("name", [one for one in NAMES if " " not in one and "\0" not in one])
def test_refused_mention_is_reported_without_its_target(name: str) -> None:
    prompt = f"See @{name} please"
    context = build_context(world().snapshot(), EditorLocation(f"file://{ROOT}/a.md"), prompt)
    shown = context.text.replace(prompt, "").replace(f"@{name}", "")
    shown = re.sub(r"<workspace [^>]*>", "", shown)
    assert f"{HOME}/private" not in shown, shown
    assert f"{ROOT}/" not in shown, shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("'/home/ann/x.md' lies outside.", "'x.md' lies outside."),
        ("\"/home/it's/x.md\" and '/a/b'", "\"x.md\" and 'b'"),
        ("'src/a.py' is left out, 'b/c' too", "'src/a.py' is left out, 'b/c' too"),
        ("'file:///home/x.md' is a URI", "'x.md' is a URI"),
        ("'C:\\\\Users\\\\x.md' has a backslash", "'x.md' has a backslash"),
        ("'/' lies outside", "'/' lies outside"),
        ("an open ' and '/a/b", "an open ' and '/a/b"),
    ],
)
def test_a_refusal_keeps_the_last_part_of_a_path(message: str, shown: str) -> None:
    assert without_folders(message) == shown
