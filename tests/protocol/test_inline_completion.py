"""`textDocument/inlineCompletion` with a loopback completion server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from lsprotocol import types as lsp

from tests.support.canaries import keys
from tests.support.completion_server import (
    AUTOMATIC,
    complete,
    completing_editor,
    completion_server,
    infill,
    items,
    params,
)
from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted
from tests.support.openai_server import End, Reply, error

METHOD = lsp.TEXT_DOCUMENT_INLINE_COMPLETION
KEY = keys(7)["GitHub token"]
SHAPES = """\
import math


def area(radius):
    return


print(area(2))
"""
FILES = {
    "shapes.py": SHAPES,
    "notes.md": "# Notes\n\nThe end\n",
    ".env": "TOKEN=abc\n",
    ".gitignore": "build/\n",
    "build/made.py": "made = 1\n",
    "hidden/secret.py": "x = 1\n",
    "key.py": f"import os\n\ntoken = '{KEY}'\nurl = \n",
    "windows.py": "def one():\r\n    return \r\n",
}
CHANGED = lsp.DidChangeConfigurationParams


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
    return folder


async def state(editor: FakeEditor) -> Any:
    return (await editor.command("stet.status"))["completion"]


async def test_a_completion_is_asked_of_infill_and_inserted_at_the_cursor(root: Path) -> None:
    async with (
        completion_server(
            infill(" math", ".pi * radius", " ** 2\n\n", "pri", end=End.HANG)
        ) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("shapes.py")
        [item] = await items(editor, "shapes.py", "    return")
        assert item == lsp.InlineCompletionItem(
            " math.pi * radius ** 2", range=lsp.Range(lsp.Position(4, 10), lsp.Position(4, 10))
        )
        await server.left()  # the rest of the answer is not waited for
        [asked] = server.requests
        assert asked.path == "/infill"
        assert "authorization" not in asked.headers
        assert asked.body == snapshot(
            {
                "temperature": 0,
                "stream": True,
                "input_prefix": """\
import math


def area(radius):
    return\
""",
                "input_suffix": """\



print(area(2))
""",
                "stop": [],
                "n_predict": 128,
                "cache_prompt": True,
            }
        )
        assert await state(editor) == {"state": "on", "why": None}


async def test_unsaved_text_is_sent_and_the_text_typed_of_a_completion_asks_nothing(
    root: Path,
) -> None:
    async with (
        completion_server(infill("math.pi"), infill("math.tau")) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("shapes.py")
        editor.change("shapes.py", "    return", "    value = ")
        assert await complete(editor, "shapes.py", "value = ") == ["math.pi"]
        assert server.requests[0].body["input_prefix"].endswith("    value = ")
        editor.change("shapes.py", "value = ", "value = mat")
        assert await complete(editor, "shapes.py", "value = mat") == ["h.pi"]
        assert len(server.requests) == 1
        editor.change("shapes.py", "value = mat", "value = max")
        assert await complete(editor, "shapes.py", "value = max") == ["math.tau"]
        assert len(server.requests) == 2


async def test_the_next_change_of_the_document_closes_the_connection(root: Path) -> None:
    async with (
        completion_server(infill("math", end=End.HANG), infill(" 1")) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("shapes.py")
        editor.open("notes.md")
        first = asyncio.get_running_loop().create_task(complete(editor, "shapes.py", "    return"))
        await server.asked(1)
        editor.change("notes.md", "The end", "The beginning")  # of another document: no reason
        assert (await state(editor))["state"] == "on"
        assert not first.done()
        editor.change("shapes.py", "    return", "    return x +")
        await server.left()
        assert await first == []
        assert await complete(editor, "shapes.py", "x +") == [" 1"]


async def test_a_cancel_of_the_editor_closes_the_connection(root: Path) -> None:
    async with (
        completion_server(infill("math", end=End.HANG)) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("shapes.py")
        request = editor.protocol.send_request(
            METHOD, params(editor, "shapes.py", "    return"), msg_id="c-1"
        )
        await server.asked(1)
        editor.cancel_request(lsp.CancelParams("c-1"))
        await server.left()
        with pytest.raises(Exception, match=r"(?i)cancel"):
            await asyncio.wrap_future(request)


async def test_of_two_requests_the_last_is_answered(root: Path) -> None:
    async with (
        completion_server(infill("a", end=End.HANG), infill(" b")) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("shapes.py")
        first = asyncio.get_running_loop().create_task(complete(editor, "shapes.py", "    return"))
        await server.asked(1)
        assert await complete(editor, "shapes.py", "import math") == [" b"]
        assert await first == []
        await server.left()


async def test_of_keystrokes_that_follow_at_once_the_last_is_answered(root: Path) -> None:
    async with (
        completion_server(*[infill("d")] * 6) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("notes.md")
        answers, text = [], "The end"
        for letter in " of it":
            editor.change("notes.md", text, text + letter)
            text += letter
            asked = complete(editor, "notes.md", text, kind=AUTOMATIC)
            answers.append(asyncio.get_running_loop().create_task(asked))
            await asyncio.sleep(0)  # the request is written before the next change
        assert (await asyncio.gather(*answers))[-1] == ["d"]
        # One on a quiet machine; on a busy one the pause between two may be long enough.
        assert len(server.requests) < len(answers)


@pytest.mark.parametrize("name", [".env", "build/made.py", "hidden/secret.py"])
async def test_nothing_is_sent_of_a_file_that_privacy_hides(root: Path, name: str) -> None:
    privacy = {"deny": ["hidden/"]}
    async with (
        completion_server(infill("1")) as server,
        completing_editor(root, server, privacy=privacy) as editor,
    ):
        editor.open(name)
        assert await complete(editor, name, FILES[name].strip()) == []
        assert server.requests == []


async def test_secrets_are_redacted_and_no_mark_is_offered(root: Path) -> None:
    async with (
        completion_server(infill("'[redacted: secret #1]'"), infill("'https://a'")) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("key.py")
        assert await complete(editor, "key.py", "url = ") == []
        assert KEY not in json.dumps(server.requests[0].body)
        assert "token = '[redacted: secret #1]'" in server.requests[0].body["input_prefix"]
        assert await complete(editor, "key.py", f"token = '{KEY[:9]}") == []  # within the secret
        assert len(server.requests) == 1
        editor.change("key.py", "url = ", "site = ")
        assert await complete(editor, "key.py", "site = ") == ["'https://a'"]
        uri = (await editor.command("stet.requestLog"))["uri"]
        await editor.wait_until(lambda: [one for one in editor.shown_documents if one.uri == uri])
        log = await asyncio.to_thread(Path(uri.removeprefix("file://")).read_text)
        assert f"inline completion at `127.0.0.1:{server.port}`" in log
        assert "- `file key.py lines 1-5`" in log
        assert "Redacted: 1 secret." in log


@pytest.mark.parametrize("answer", ["x<|im_end|>", "x\u202ey", "  ", "\n\n"])
async def test_an_answer_that_must_not_be_inserted_is_dropped(root: Path, answer: str) -> None:
    async with (
        completion_server(infill(answer)) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("notes.md")
        assert await complete(editor, "notes.md", "The end") == []
        assert len(server.requests) == 1


async def test_control_tokens_of_the_file_are_broken_when_sent_and_whole_when_offered(
    root: Path,
) -> None:
    (root / "fim.py").write_text("A = '<|fim_suffix|>'\nB = \n")
    async with (
        completion_server(infill("'<¦|fim_suffix|>'")) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("fim.py")
        assert await complete(editor, "fim.py", "B = ") == ["'<|fim_suffix|>'"]
        assert server.requests[0].body["input_prefix"] == "A = '<¦|fim_suffix|>'\nB = "


async def test_lines_end_as_the_editor_expects(root: Path) -> None:
    async with (
        completion_server(infill("1 +\r\n        2")) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("windows.py")
        assert await complete(editor, "windows.py", "    return ") == ["1 +\n        2"]
        assert server.requests[0].body["input_prefix"] == "def one():\n    return "


async def test_the_item_selected_in_the_menu_comes_first(root: Path) -> None:
    async with (
        completion_server(infill("(radius)")) as server,
        completing_editor(root, server) as editor,
    ):
        editor.open("shapes.py")
        editor.change("shapes.py", "    return", "    return are")
        word = editor.range_of("shapes.py", "return are")
        word.start.character += len("return ")
        chosen = lsp.SelectedCompletionInfo(word, "area_of")
        wanted = params(editor, "shapes.py", "return are", AUTOMATIC, chosen)
        found = await editor.text_document_inline_completion_async(wanted)
        assert isinstance(found, lsp.InlineCompletionList)
        assert list(found.items) == [lsp.InlineCompletionItem("area_of(radius)", range=word)]
        assert server.requests[0].body["input_prefix"].endswith("    return area_of")


async def test_a_server_without_infill_gets_the_control_tokens_of_the_model(root: Path) -> None:
    completions = {"choices": [{"text": " x", "finish_reason": None}]}
    async with (
        completion_server(
            error(404, "Not Found"), Reply([completions]), Reply([completions])
        ) as server,
        completing_editor(root, server, completion={"name": "Qwen2.5-Coder-1.5B"}) as editor,
    ):
        editor.open("notes.md")
        assert await complete(editor, "notes.md", "The end") == [" x"]
        assert await complete(editor, "notes.md", "# Notes") == [" x"]
        assert [one.path for one in server.requests] == [
            "/infill", "/v1/completions", "/v1/completions",
        ]  # fmt: skip
        assert server.requests[1].body == snapshot(
            {
                "temperature": 0,
                "stream": True,
                "model": "Qwen2.5-Coder-1.5B",
                "max_tokens": 128,
                "prompt": """\
<|fim_prefix|># Notes

The end<|fim_suffix|>
<|fim_middle|>\
""",
                "stop": ["<|endoftext|>", "<|file_sep|>", "<|fim_pad|>"],
            }
        )


async def test_a_server_that_takes_a_suffix_gets_it_with_the_key(root: Path) -> None:
    settings = {"name": "codestral", "endpoint": "suffix", "apiKeyEnv": "COMPLETION_KEY"}
    async with completion_server(Reply([{"choices": [{"delta": {"content": "!"}}]}])) as server:
        completion = {"enabled": True, "baseUrl": server.base_url, **settings}
        async with FakeEditor.start(
            root,
            client="vscode",
            settings={"completion": completion},
            env={"COMPLETION_KEY": "key-1"},
        ) as editor:
            await editor.command("stet.proposals")
            editor.open("notes.md")
            assert await complete(editor, "notes.md", "The end") == ["!"]
        [asked] = server.requests
        assert asked.path == "/v1/completions"
        assert asked.headers["authorization"] == "Bearer key-1"
        assert (asked.body["prompt"], asked.body["suffix"]) == ("# Notes\n\nThe end", "\n")


NO_FIM = "Infill is not supported by this model: prefix token is missing."
FAULTS = [
    (
        error(501, NO_FIM),
        {},
        "Inline completion: The completion model (HOST) failed (HTTP 501): Infill is not supported by "
        "this model: prefix token is missing. This model can't fill in the middle: choose one that "
        "can, such as Qwen2.5-Coder, in completion.name or on the server.",
    ),
    (
        error(401, "who?"),
        {},
        "Inline completion: The completion model (HOST) requires an API key (HTTP 401): set an "
        "environment variable, and completion.apiKeyEnv to its name, in the editor's environment.",
    ),
    (
        error(404, "no such model"),
        {"endpoint": "infill", "name": "coder"},
        "Inline completion: The completion model (HOST) has no model 'coder' (HTTP 404: no such "
        "model): check completion.name, and completion.baseUrl ('http://HOST/v1').",
    ),
    (
        error(404, "no such path"),
        {"name": "gpt-9"},
        "Inline completion: The completion model (HOST): the control tokens by which the model "
        "'gpt-9' fills in the middle are not known. Set completion.endpoint to \"infill\" "
        '(llama.cpp) or "suffix" (Ollama), or choose another model, such as Qwen2.5-Coder, in '
        "completion.name.",
    ),
]


@pytest.mark.parametrize(("reply", "settings", "sentence"), FAULTS)
async def test_a_failure_is_shown_once_and_nothing_is_sent_for_a_while(
    root: Path, reply: Reply, settings: dict[str, Any], sentence: str
) -> None:
    async with (
        completion_server(reply, infill("x")) as server,
        completing_editor(root, server, completion=settings) as editor,
    ):
        sentence = sentence.replace("HOST", f"127.0.0.1:{server.port}")
        editor.open("notes.md")
        for before in ("The end", "# Notes", "The"):
            assert await complete(editor, "notes.md", before) == []
        assert await state(editor) == {"state": "failed", "why": sentence}
        assert [one.message for one in editor.messages] == [sentence]
        assert len(server.requests) == 1
        # Other settings are tried at once.
        completion = {"enabled": True, "baseUrl": server.base_url, "endpoint": "infill"}
        completion |= {"maxTokens": 9}
        editor.workspace_did_change_configuration(CHANGED({"stet": {"completion": completion}}))
        while (await state(editor))["state"] == "failed":
            await complete(editor, "notes.md", "The end")
        assert await complete(editor, "notes.md", "The end") == ["x"]
        assert server.requests[-1].body["n_predict"] == 9


async def test_a_server_that_is_not_there_is_reported_once(root: Path) -> None:
    async with completion_server() as gone:
        port = gone.port
    settings = {"completion": {"enabled": True, "baseUrl": f"http://127.0.0.1:{port}"}}
    async with FakeEditor.start(root, client="neovim-0.12", settings=settings) as editor:
        await editor.command("stet.proposals")
        editor.open("notes.md")
        for before in ("The end", "# Notes"):
            assert await complete(editor, "notes.md", before) == []
        [message] = editor.messages
        assert f"127.0.0.1:{port}) could not be reached" in message.message
        assert "is the server running?" in message.message


async def test_without_an_address_the_setting_is_named(root: Path) -> None:
    settings = {"completion": {"enabled": True}}
    async with FakeEditor.start(root, client="neovim-0.12", settings=settings) as editor:
        await editor.command("stet.proposals")
        editor.open("notes.md")
        assert await complete(editor, "notes.md", "The end") == []
        [message] = editor.messages
        assert "completion.baseUrl is not set" in message.message


async def test_a_project_cannot_turn_completions_on(root: Path) -> None:
    async with completion_server(infill("x")) as server:
        text = f'[completion]\nenabled = true\nbaseUrl = "{server.base_url}"\n'
        (root / ".stet.toml").write_text(text)
        async with FakeEditor.start(root, client="neovim-0.12") as editor:
            await editor.command("stet.proposals")
            editor.open("notes.md")
            assert await complete(editor, "notes.md", "The end") == []
            assert await state(editor) == {"state": "off", "why": None}
        assert server.requests == []


async def test_an_editor_that_can_register_is_asked_for_completions_only_while_they_are_on(
    root: Path,
) -> None:
    def registered(editor: FakeEditor) -> bool:
        return METHOD in [one.method for one in editor.registered]

    async with (
        completion_server() as server,
        FakeEditor.start(root, client="vscode", settings={}) as editor,
    ):
        await editor.command("stet.proposals")
        assert editor.result.capabilities.inline_completion_provider is None
        assert not registered(editor)
        completion = {"enabled": True, "baseUrl": server.base_url}
        for wanted in (True, False, True):
            completion["enabled"] = wanted
            change = CHANGED({"stet": {"completion": completion}})
            editor.workspace_did_change_configuration(change)
            await editor.wait_until(lambda wanted=wanted: registered(editor) is wanted)  # type: ignore[misc]


@pytest.mark.parametrize(("client", "announced"), [("neovim-0.12", True), ("helix", None)])
async def test_an_editor_that_cannot_register_sees_it_at_the_start(
    root: Path, client: str, announced: bool | None
) -> None:
    async with FakeEditor.start(root, client=client) as editor:
        assert editor.result.capabilities.inline_completion_provider is announced
        editor.open("notes.md")
        assert await complete(editor, "notes.md", "The end") == []


async def test_a_trace_has_the_request_and_the_answer(root: Path, tmp_path: Path) -> None:
    state_home = tmp_path / "state"
    async with completion_server(infill(" math.pi")) as server:
        completion = {"enabled": True, "baseUrl": server.base_url}
        async with FakeEditor.start(
            root,
            client="neovim-0.12",
            settings={"completion": completion, "log": {"traceModel": True}},
            env={"XDG_STATE_HOME": str(state_home)},
        ) as editor:
            await editor.wait_for_message("log.traceModel is on")
            editor.open("shapes.py")
            assert await complete(editor, "shapes.py", "    return") == [" math.pi"]
    [trace] = (state_home / "stet" / "log").glob("model-trace-*.log")
    text = trace.read_text()
    assert "to the completion model" in text
    assert "def area(radius)" in text
    assert '" math.pi"' in text


async def test_blocks_of_proposals_are_no_part_of_what_is_sent(root: Path, tmp_path: Path) -> None:
    """With `edit.reviewStyle: "inline"` the text of the editor has conflict markers."""
    turn = calls(edit("shapes.py", "import math", "import cmath", "Complex"))
    async with completion_server(infill(" math.pi")) as server:
        completion = {"enabled": True, "baseUrl": server.base_url}
        async with FakeEditor.start(
            root,
            client="neovim-0.12",
            settings={"completion": completion, "edit": {"reviewStyle": "inline"}},
            env=scripted(tmp_path, turn, done()),
        ) as editor:
            uri = editor.open("shapes.py")
            await run(editor, "Do", uri=uri)
            await editor.wait_until(lambda: "import cmath" in editor.text(uri))
            assert await complete(editor, "shapes.py", "import cmath") == []  # within a block
            assert server.requests == []
            [item] = await items(editor, "shapes.py", "    return")
            place = editor.range_of("shapes.py", "    return").end
            assert item == lsp.InlineCompletionItem(" math.pi", range=lsp.Range(place, place))
            [asked] = server.requests
            assert asked.body["input_prefix"] == SHAPES.partition("return")[0] + "return"
