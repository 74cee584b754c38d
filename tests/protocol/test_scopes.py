"""The editable scopes `current`, `linked` and `context`: the editable and the refused files."""

import json
from pathlib import Path
from typing import Any

import pytest

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import edit, provider, run
from tests.support.openai_server import OpenAIServer

FILES = {
    "cur.md": "see [out](out.md)\ntext\n",
    "out.md": "see [two](two.md)\ntext\n",
    "back.md": "see [cur](cur.md)\ntext\n",
    "two.md": "two\ntext\n",
    "typed.md": "typed\ntext\n",
    "sub/far.md": "far\ntext\n",
}
WHAT = {
    "current": "only the file that was active when the question was asked",
    "linked": "the file that was active when the question was asked, and the files that it links to",
    "context": "the files shown to you, and those you have read in this turn",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make notes that link to each other."""
    folder = tmp_path / "ws"
    (folder / "sub").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def call(*wanted: tuple[str, dict[str, Any]]) -> api.Reply:
    """Make a provider's answer that calls tools."""
    made = (ToolCall(f"c{n}", tool, json.dumps(found)) for n, (tool, found) in enumerate(wanted))
    return api.of(Completion("", tuple(made)))


EVERY = call(*(edit(name, "text", "TEXT") for name in FILES))


@pytest.mark.parametrize(
    ("scope", "reads", "types", "allowed"),
    [
        ("current", True, False, {"cur.md"}),
        ("linked", True, False, {"cur.md", "out.md", "back.md"}),
        ("linked", False, True, {"cur.md", "out.md", "back.md", "typed.md"}),
        ("context", False, True, {"cur.md"}),
        ("context", True, False, {"cur.md", "two.md", "sub/far.md"}),
    ],
)
async def test_what_is_outside_the_scope_is_refused_and_the_model_and_the_user_are_informed_why(
    root: Path, scope: str, allowed: set[str], *, reads: bool, types: bool
) -> None:
    read = call(*(("read_file", {"file": name}) for name in ("two.md", "sub/far.md")))
    rounds = [*([read] if reads else []), EVERY, api.call("done", summary="Done.")]
    settings = {"edit": {"scope": scope}, "context": {"scope": "current"}}
    async with (
        OpenAIServer(rounds) as server,
        FakeEditor.start(root, settings=settings, env=provider(server)) as editor,
    ):
        uri = editor.open("cur.md")
        if types:  # an unsaved link
            editor.change(uri, "text\n", "text [[typed]]\n")
        turn = await run(editor, "Shout", uri=uri)
        hunks = await editor.command("stet.proposals")
        refused = [name for name in FILES if name not in allowed]
        assert {hunk["uri"] for hunk in hunks} == {editor.uri(name) for name in allowed}
        assert [(one["file"], one["rule"]) for one in turn["rejectedEdits"]] == [
            (name, "edit.scope") for name in refused
        ]
        last = server.requests[-1].body["messages"]
        reported = [one["content"] for one in last if one["role"] == "tool"][-len(FILES) :]
        for name, answer in zip(FILES, reported, strict=True):
            reason = f"rule edit.scope: '{name}' is outside the editable scope ('{scope}'): "
            assert (f"{reason}{WHAT[scope]}" in answer) == (name in refused)
        assert WHAT[scope] in server.requests[0].body["messages"][0]["content"]
        message = await editor.wait_for_message("edit")
        assert f"{len(refused)} edits refused by rule edit.scope for " in message
        for name in refused[:3]:
            assert name in message
