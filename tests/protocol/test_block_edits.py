"""A very small model on a server of the user's own: it answers with code, and Stet proposes it."""

from pathlib import Path
from typing import Any

import pytest

from stet.agent.small.advice import NO_PLACE
from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import run
from tests.support.openai_server import OpenAIServer

MODELS = {
    "data": [{"id": "/models/coder.gguf", "meta": {"n_ctx": 8192, "n_params": 1_777_000_000}}]
}
ENV = {"no_proxy": "*"}
STATS = '''\
def total(values):
    return sum(values)


def average(values):
    """Return the mean."""
    return total(values) / len(values)
'''
FIXED = '''\
def average(values):
    """Return the mean."""
    if not values:
        return 0.0
    return total(values) / len(values)
'''
QUESTION = "average([]) raises ZeroDivisionError. It should return 0.0."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of three files."""
    folder = tmp_path / "ws"
    (folder / "lib").mkdir(parents=True)
    (folder / "stats.py").write_text(STATS)
    (folder / "lib/tools.py").write_text("def slug(text):\n    return text\n")
    (folder / "README.md").write_text("# Weather\n\nIt shows the wether of today.\n")
    return folder


def served(*replies: api.Scripted) -> OpenAIServer:
    """Make a llama.cpp server that reports a model of 1.78 billion parameters."""
    return OpenAIServer(replies, pages={"/v1/models": MODELS})


def settings_of(server: OpenAIServer, **model: Any) -> dict[str, Any]:
    """Return the settings for a server."""
    return {"model": {"provider": "llamacpp", "baseUrl": server.base_url, **model}}


def text_of(editor: FakeEditor, name: str) -> str:
    """Return the text of a file in the editor; "" if it is not open."""
    uri = editor.uri(name)
    return editor.text(uri) if uri in editor.documents else ""


async def wait_for_text(editor: FakeEditor, name: str, text: str) -> None:
    """Wait until a file in the editor has this text."""
    await editor.wait_until(lambda: text_of(editor, name) == text)


async def test_function_in_a_block_is_proposed_in_its_place(root: Path) -> None:
    answer = (
        f"I return 0.0 for no values. Here is the code:\n\n```python\n{FIXED}```\n\nThat is all."
    )
    async with (
        served(api.say(answer)) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        uri = editor.open("stats.py")
        turn = await run(editor, QUESTION, uri=uri)
        assert (turn["state"], turn["summary"]) == ("completed", "I return 0.0 for no values.")
        assert turn["answer"] == ("I return 0.0 for no values. Here is the code:\n\nThat is all.")
        [hunk] = await editor.command("stet.proposals")
        assert (hunk["old"], hunk["new"]) == ("", "    if not values:\n        return 0.0\n")
        body = server.requests[0].body
        assert "tools" not in body
        assert (body["max_tokens"], body["cache_prompt"]) == (1536, True)
        system, question = body["messages"]
        assert len(system["content"]) < 800
        assert question["content"] == (f"The file stats.py:\n\n```py\n{STATS}```\n\n{QUESTION}")
        shown = await editor.command("stet.showContext", {"prompt": QUESTION, "uri": uri})
        assert [one["text"] for one in shown["sections"]] == [
            system["content"],
            question["content"],
        ]
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await editor.wait_until(
            lambda: editor.text(uri) == STATS.split("def average", maxsplit=1)[0] + FIXED
        )


@pytest.mark.parametrize(
    ("question", "answer", "files"),
    [
        (
            "slug() in lib/tools.py keeps upper case.",
            "```py\ndef slug(text):\n    return text.lower()\n```",
            {"lib/tools.py": "def slug(text):\n    return text.lower()\n"},
        ),
        (
            "Create the file lib/names.py with a list NAMES.",
            "lib/names.py\n```py\nNAMES = []\n```",
            {"lib/names.py": "NAMES = []\n"},
        ),
        (
            "Create a file names.py with a list NAMES.",
            "```py\nNAMES = []\n```",
            {"names.py": "NAMES = []\n"},
        ),
        (
            "Correct README.md.",
            "```md\nIt shows the weather of today.\n```",
            {"README.md": "# Weather\n\nIt shows the weather of today.\n"},
        ),
        (
            "Add a function double().",
            "```py\ndef double(n):\n    return 2 * n\n```",
            {"stats.py": f"{STATS}\n\ndef double(n):\n    return 2 * n\n"},
        ),
        (
            "Rename the parameter of total() to numbers.",
            '<tools>\n{"name": "edit_file", "arguments": {"file": "stats.py", "old_text": '
            '"def total(values):\\n    return sum(values)", "new_text": '
            '"def total(numbers):\\n    return sum(numbers)"}}\n</tools>',
            {
                "stats.py": STATS.replace(
                    "(values):\n    return sum(values", "(numbers):\n    return sum(numbers"
                )
            },
        ),
    ],
    ids=[
        "named file",
        "new file",
        "new file named in the question",
        "prose",
        "new function",
        "call",
    ],
)
async def test_block_is_placed_by_what_it_contains(
    root: Path, question: str, answer: str, files: dict[str, str]
) -> None:
    async with (
        served(api.say(answer), api.say("Done.")) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, question, uri=editor.open("stats.py"))
        assert turn["state"] == "completed", turn
        for hunk in turn["hunks"]:
            await editor.command("stet.accept", {"hunk": hunk})
        for name, text in files.items():
            await wait_for_text(editor, name, text)


@pytest.mark.parametrize(
    ("question", "answer", "summary"),
    [
        (
            QUESTION,
            f"Here it is:\n```py\n{STATS}```\nNow it returns 0.0.",
            "Nothing was proposed: the model repeated the code without a change. Say more exactly "
            "what should change, or select the lines and use rewrite.",
        ),
        (
            QUESTION,
            "I would use `math.ceil`:\n```py\nx = math.ceil(1)\n```",
            "I would use `math.ceil`:",
        ),
        ("How do I call it?", "```py\nprint(average([1]))\n```", "```py"),
        ("What does average return?", "The mean.", "The mean."),
    ],
    ids=["repeated", "no place", "example", "answer"],
)
async def test_answer_without_an_edit_proposes_nothing(
    root: Path, question: str, answer: str, summary: str
) -> None:
    async with (
        served(api.say(answer)) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, question, uri=editor.open("stats.py"))
        assert (turn["state"], turn["hunks"], turn["summary"]) == ("completed", [], summary)
        assert turn["notes"] == ([NO_PLACE] if summary.startswith("I would") else [])


async def test_mode_ask_shows_the_block(root: Path) -> None:
    answer = f"So:\n\n```py\n{FIXED}```"
    async with (
        served(api.say(answer)) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, QUESTION, uri=editor.open("stats.py"), mode="ask")
        assert (turn["hunks"], turn["answer"]) == ([], answer)


async def test_calls_are_used_if_the_settings_say_so(root: Path) -> None:
    async with (
        served(api.call("done", summary="Done.")) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server, toolCalls="native")) as editor,
    ):
        await run(editor, QUESTION, uri=editor.open("stats.py"))
        assert len(server.requests[0].body["tools"]) == 5


async def test_secret_is_neither_sent_nor_lost(root: Path) -> None:
    key = "AKIAIOSFODNN7" + "QWERTYU"
    text = f'def connect(n):\n    key = "{key}"\n    return key[:n]\n'
    (root / "keys.py").write_text(text)
    (root / ".env").write_text("PASSWORD=hunter2hunter2\n")

    def answer(asked: HttpRequest) -> api.Reply:
        shown = str(asked.body["messages"][-1]["content"]).split("```")[1].removeprefix("py\n")
        return api.say(f"```py\n{shown.replace('key[:n]', 'key[-n:]')}```")

    async with (
        served(answer) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        uri = editor.open("keys.py")
        turn = await run(editor, "connect() and .env: return the end of the key", uri=uri)
        sent = str(server.requests[0].body)
        assert ("[redacted: " in sent, key in sent, "hunter2" in sent) == (True, False, False)
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await editor.wait_until(lambda: editor.text(uri) == text.replace("key[:n]", "key[-n:]"))


async def test_call_that_the_server_reads_is_run(root: Path) -> None:
    answers = [api.of(Completion("", (ToolCall("c", "list_files", ""),))), api.say("Three files.")]
    async with (
        served(*answers) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, "Which files are there?", uri=editor.open("stats.py"))
        assert (turn["state"], turn["answer"]) == ("completed", "Three files.")
        assert [one["content"] for one in server.requests[1].body["messages"][2:]] == [
            "list_files()",
            "README.md\nlib/tools.py\nstats.py\n",
        ]


async def test_selected_function_is_rewritten_without_the_rest_of_the_file(root: Path) -> None:
    async with (
        served(api.say(f"```py\n{FIXED}```")) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        uri = editor.open("stats.py")
        turn = await run(editor, QUESTION, uri=uri, mode="rewrite", **{"from": 5, "to": 7})
        assert (turn["state"], len(turn["hunks"])) == ("completed", 1)
        average = STATS.partition("\n\n\n")[2]
        assert server.requests[0].body["messages"][-1]["content"] == (
            f"```python\n{average}```\n\n{QUESTION}"
        )


LONG = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(60))


@pytest.mark.parametrize(
    ("question", "line", "shown"),
    [
        ("f7() should return 8.", None, "long.py, lines 29 to 30:\n\n```py\ndef f7():\n"),
        ("Return 8 here.", 29, "long.py, lines 29 to 30:\n\n```py\ndef f7():\n"),
        ("f7() returns what f9() should.", None, "long.py, lines 29 to 38:\n\n```py\ndef f7():\n"),
        ("Make it better.", 0, "long.py:\n\n```py\ndef f0():\n"),
    ],
    ids=["named", "at the cursor", "both named", "around the cursor"],
)
async def test_long_file_is_shown_where_the_question_is_about(
    root: Path, question: str, line: int | None, shown: str
) -> None:
    (root / "long.py").write_text(LONG)
    async with (
        served(api.say("```py\ndef f7():\n    return 8\n```")) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        uri = editor.open("long.py")
        if line is not None:
            place = {"line": line, "character": 0}
            editor.protocol.notify(
                "$/stet/didChangeSelection",
                {
                    "textDocument": {"uri": uri},
                    "selections": [{"anchor": place, "active": place}],
                },
            )
        turn = await run(editor, question, uri=uri)
        assert server.requests[0].body["messages"][-1]["content"].startswith(f"The file {shown}")
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_text(editor, "long.py", LONG.replace("return 7\n", "return 8\n"))


async def test_function_of_a_closed_file_is_found_by_its_name(root: Path) -> None:
    (root / "lib/other.py").write_text("# slug is in tools\nslug = 1\n")
    async with (
        served(api.say("```py\ndef slug(text):\n    return text.lower()\n```")) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, "slug() keeps upper case.", uri=editor.open("stats.py"))
        assert turn["filesRead"] == ["lib/tools.py"]
        assert server.requests[0].body["messages"][-1]["content"] == (
            f"The file stats.py:\n\n```py\n{STATS}```\n\n"
            "The file lib/tools.py:\n\n```py\ndef slug(text):\n    return text\n```\n\n"
            "slug() keeps upper case."
        )
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_text(editor, "lib/tools.py", "def slug(text):\n    return text.lower()\n")
