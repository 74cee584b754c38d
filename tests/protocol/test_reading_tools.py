"""Reading tools, called by a model through the server: the result of each."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer
from tests.support.search_index import settled

CANARY = "canary-5d1e"
MOST = 20_000
HOME = """---
tags: [Project/alpha]
rating: 4
due: 2026-05-01
---
# Home

See [[guide]] and [[giude]]. #idea

- [ ] write the setup
- [x] think
"""
APP = '''"""The app."""

from util import load_config


class App:
    def start(self) -> None:
        load_config()
'''
FILES = {
    "home.md": HOME,
    "docs/guide.md": "# Guide\n\n## Installing\n\nBack [home](../home.md).\n",
    "app.py": APP,
    "util.py": "def load_config() -> None: ...\n",
    "private/plan.md": f"#{CANARY} [[home]]\n- [ ] {CANARY}\n",
    ".gitignore": "out/\n",
    "out/made.md": f"#{CANARY} [[home]]\n",
    ".env": f"KEY={CANARY}\n",
}
SETTINGS: dict[str, object] = {"context": {"excludedFolders": ["private"]}}
Call = tuple[str, dict[str, Any]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of notes and code, with something to hide."""
    folder = tmp_path / "ws"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_767_225_600, 1_767_225_600))  # 2026-01-01T00:00:00Z
    return folder


async def answers(root: Path, *wanted: Call) -> tuple[list[str], Any]:
    """Return the answers to the calls, made from `home.md` with unsaved text; and the turn."""
    made = tuple(
        ToolCall(f"c{n}", tool, json.dumps(arguments)) for n, (tool, arguments) in enumerate(wanted)
    )
    replies = [api.of(Completion("", made)), api.call("done", summary="Read.")]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        await editor.command("stet.reindex", {"rebuild": False})
        assert (await settled(editor))["state"] == "ready"
        uri = editor.open("home.md", language_id="markdown")
        editor.change(uri, "- [x] think", "- [x] think\n\nUnsaved word, [app](app.py).")
        turn = await run(editor, "Read", uri=uri)
        assert turn["state"] == "completed", turn["error"]
        assert (turn["hunks"], editor.text(uri)) == ([], HOME + "\nUnsaved word, [app](app.py).\n")
        assert CANARY not in json.dumps([asked.body for asked in server.requests])
        reported = [
            message["content"]
            for message in server.requests[-1].body["messages"]
            if message["role"] == "tool"
        ]
        assert len(reported) == len(wanted)
        return reported, turn


GOOD: list[tuple[str, dict[str, Any], list[str]]] = [
    ("search_workspace", {"query": "where is the config loaded"}, ["util.py:1: def load_config"]),
    ("search_workspace", {"query": "Unsaved", "mode": "keyword"}, ["home.md:13: Unsaved word"]),
    (
        "search_workspace",
        {"query": "installation", "mode": "semantic"},
        ["docs/guide.md:3: ## Installing"],
    ),
    ("search_workspace", {"query": r"^class \w+", "mode": "regex"}, ["app.py:6: class App:\n"]),
    (
        "get_links",
        {"file": "home.md", "depth": 2},
        [
            "  8: See [[guide]] and [[giude]]. #idea -> docs/guide.md; 'giude' (no file)\n",
            "  13: Unsaved word, [app](app.py). -> app.py\n",
            "Links to home.md:\n  docs/guide.md:5: Back [home](../home.md).\n",
            "app.py (1 step away) links to:\n  3: from util import load_config -> util.py\n",
        ],
    ),
    (
        "explore_structure",
        {},
        ["./ (5 files: 2 .md, 2 .py, 1 no ending)\n  docs/ (1 file: 1 .md)\n"],
    ),
    ("explore_structure", {"file": "app.py"}, ["     6  class App:\n     7    def start(self)"]),
    (
        "explore_structure",
        {"file": "docs/guide.md"},
        ["     1  # Guide\n     3    ## Installing\n"],
    ),
    ("list_tags", {}, ["#idea: 1 note\n#Project/alpha: 1 note\n"]),
    (
        "get_attached_context",
        {},
        ["<current_file>\nPath: home.md\n", "    13\tUnsaved word, [app](app.py).\n"],
    ),
    (
        "get_properties",
        {"file": "home.md"},
        ['tags: ["Project/alpha"]\nrating: 4\ndue: 2026-05-01\n'],
    ),
    (
        "get_file_info",
        {"file": "home.md"},
        [
            "language: markdown\n",
            "lines: 13\n",
            "last written: 2026-01-01T00:00:00Z\nstate: open, with unsaved changes\n",
            "links: 2 to files here, 1 from other files\ntags: #Project/alpha, #idea\n",
            "pending hunks: 0\n",
        ],
    ),
    ("find_dead_links", {}, ["home.md:8: 'giude' does not exist"]),
    ("query_files", {"tag": "project", "property": "rating", "value": ">=4"}, ["home.md\n"]),
    ("query_files", {"task": "open"}, ["home.md\n  10: [ ] write the setup\n"]),
    ("query_files", {"links_to": "home.md"}, ["docs/guide.md\n"]),
    (
        "query_files",
        {"modified_after": "2026-01-01", "glob": "*.py"},
        ["app.py (written 2026-01-01T00:00:00Z)\nutil.py (written 2026-01-01T00:00:00Z)\n"],
    ),
]


async def test_each_tool_reports_the_contents_with_unsaved_text(root: Path) -> None:
    reported, turn = await answers(root, *((tool, arguments) for tool, arguments, _ in GOOD))
    for (tool, arguments, parts), text in zip(GOOD, reported, strict=True):
        for part in parts:
            assert part in text, (tool, arguments, text)
    assert [call["state"] for call in turn["toolCalls"][: len(GOOD)]] == ["completed"] * len(GOOD)
    assert sorted(turn["filesRead"]) == ["app.py", "docs/guide.md", "home.md"]


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("search_workspace", {"query": "x", "mode": "fuzzy"}, "mode: Input should be 'hybrid'"),
    ("search_workspace", {"query": "(", "mode": "regex"}, "The regular expression can't be read"),
    ("search_workspace", {"query": "x", "folder": "../.."}, "Error: "),
    ("get_links", {"file": "gone.md"}, "`list_files` gives the names there are."),
    (
        "get_links",
        {"file": "home.md", "depth": 9},
        "depth: Input should be less than or equal to 3",
    ),
    ("get_links", {"file": "out/made.md"}, "ignored by a .gitignore"),
    ("explore_structure", {"file": "app.py", "folder": "docs"}, "give file or folder, not both"),
    ("explore_structure", {"folder": "private"}, "There are no files below 'private'."),
    ("list_tags", {"folder": "/etc"}, "is outside the workspace"),
    ("get_attached_context", {"file": "a"}, "file: Extra inputs are not permitted"),
    ("get_properties", {"file": "app.py"}, "is not a Markdown note"),
    ("get_properties", {}, "file: Field required"),
    ("get_file_info", {"file": ".env"}, "looks like a secret"),
    ("find_dead_links", {"folder": "nowhere"}, "There are no files below 'nowhere'."),
    ("find_dead_links", {"file": "private/plan.md"}, "is an excluded folder"),
    ("query_files", {}, "give at least one condition"),
    ("query_files", {"modified_after": "soon"}, "is not an ISO date such as 2026-05-31"),
    ("query_files", {"value": "4"}, "value needs property"),
]


async def test_bad_arguments_are_answered_with_what_to_do(root: Path) -> None:
    reported, turn = await answers(root, *((tool, arguments) for tool, arguments, _ in BAD))
    for (tool, arguments, part), text in zip(BAD, reported, strict=True):
        assert text.startswith("Error: "), (tool, arguments, text)
        assert part in text, (tool, arguments, text)
    assert [call["state"] for call in turn["toolCalls"][: len(BAD)]] == ["error"] * len(BAD)


CAPPED: list[Call] = [
    ("search_workspace", {"query": "word", "limit": 5}),
    ("search_workspace", {"query": "word", "mode": "regex", "limit": 200}),
    ("get_links", {"file": "hub.md"}),
    ("explore_structure", {}),
    ("explore_structure", {"file": "hub.md"}),
    ("list_tags", {}),
    ("get_attached_context", {}),
    ("get_properties", {"file": "hub.md"}),
    ("find_dead_links", {}),
    ("query_files", {"text": "word", "limit": 500}),
]


async def test_long_answers_are_cut_and_report_how_to_continue(root: Path) -> None:
    padding = "x" * 150
    hub = "".join(f"p{n}: {padding}\n" for n in range(300))
    hub = f"---\n{hub}---\n" + "".join(
        f"# {padding} {n}\n\n#t{padding}{n} [[gone{n}{'z' * 60}]] word\n\n" for n in range(300)
    )
    (root / "hub.md").write_text(hub)
    for n in range(400):
        (root / f"folder-{n}-{'y' * 60}").mkdir()
        (root / f"folder-{n}-{'y' * 60}" / "n.md").write_text(f"[[hub]] word {padding}\n")
    (root / "home.md").write_text(HOME + "".join(f"{padding} {n}\n" for n in range(1900)))
    replies = [
        api.of(
            Completion(
                "", tuple(ToolCall(f"c{n}", t, json.dumps(a)) for n, (t, a) in enumerate(CAPPED))
            )
        ),
        api.call("done", summary="Read."),
    ]
    settings = {**SETTINGS, "context": {"warnTokens": 1_000_000}, "agent": {"maxTokens": 1_000_000}}
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server), settings=settings) as editor,
    ):
        uri = editor.open("home.md")
        turn = await run(editor, "Read", uri=uri)
        assert turn["state"] == "completed", turn["error"]
        reported = [
            m["content"] for m in server.requests[-1].body["messages"] if m["role"] == "tool"
        ]
    for (tool, arguments), text in zip(CAPPED, reported, strict=True):
        assert len(text) < MOST + 500, (tool, arguments, len(text))
        assert "(cut: " in text or "`read_file` shows the others" in text, (
            tool,
            arguments,
            text[-300:],
        )
