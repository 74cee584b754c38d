"""A model that writes its tool calls as text, behind a server that does not read them."""

from pathlib import Path

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer

EDIT = '{"name": "edit_file", "arguments": {"file": "a.txt", "old_text": "two", "new_text": "2"}}'
DONE = '{"name": "done", "arguments": {"summary": "It is a digit."}}'


@pytest.mark.parametrize(
    "answers",
    [
        (f"I change it.\n<tools>\n{EDIT}\n</tools>", f"<tools>\n{DONE}\n</tools>"),
        (f"I change it.\n\n```json\n{EDIT}\n```\n\n```json\n{DONE}\n```",),
        (f"I change it.\n{EDIT}", DONE),
        (
            f"I change it.\n<tool_call>\n{{{EDIT}}}\n</tool_call>\n<tool_call>\n{DONE}\n</tool_call>",
        ),
    ],
)
async def test_call_written_as_text_proposes_a_hunk(
    tmp_path: Path, answers: tuple[str, ...]
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    async with (
        OpenAIServer([api.say(answer) for answer in answers]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await run(editor, "Make it a digit", uri=uri)
        assert (turn["state"], turn["summary"]) == ("completed", "It is a digit.")
        assert turn["answer"].strip() == "I change it."
        await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        await editor.wait_until(lambda: editor.text(uri) == "one\n2\n")
