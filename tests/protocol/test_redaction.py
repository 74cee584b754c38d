"""Secrets in all inputs of a model: none is in a request, and the request log counts them."""

import asyncio
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.canaries import keys, private_key
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer
from tests.support.prompt_cache import cached_share
from tests.support.search_apis import TAVILY
from tests.support.web_server import WebServer, found, page

KINDS = ("GitHub token", "Stripe key", "AWS key", "Anthropic key", "web token", "random string")
PLACES = (
    "open", "selected", "attached", "linked", "question", "agents", "found", "printed", "steered",
    "unsaved", "page", "again",
)  # fmt: skip
PLANTED = {place: keys(n)[KINDS[n % len(KINDS)]] for n, place in enumerate(PLACES, 10)}
PEM = private_key(90)
DONE = api.call("done", summary="Done.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace with a key in each file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    texts = {
        "a.py": f"import b\nkey = '{PLANTED['open']}'\nother = '{PLANTED['selected']}'\nx = 1\n",
        "b.py": f"key = '{PLANTED['linked']}'\n",
        "c.py": f"needle = '{PLANTED['found']}'\npem = '''\n{PEM}'''\n",
        "d.md": f"The token is {PLANTED['attached']}.\n",
        "AGENTS.md": f"Use the key {PLANTED['agents']} for tests.\n",
        "print.py": f"print('key:', '{PLANTED['printed']}'[::-1][::-1])\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


def settings(web: WebServer | None = None, **privacy: object) -> dict[str, Any]:
    """Make settings with a command that prints a key, and a search API."""
    command = {"name": "show", "safe": True, "argv": [sys.executable, "print.py"]}
    reported: dict[str, Any] = {
        "agent": {"disabledTools": [], "commands": [command], "maxTokens": 1_000_000},
        "context": {"scope": "linked"},
        "privacy": privacy,
    }
    if web is not None:
        host = f"127.0.0.1:{web.port}"
        api_key = {"baseUrl": web.url(""), "apiKeyEnv": "SEARCH_KEY", "allowHosts": [host]}
        reported["web"] = {"provider": "tavily", **api_key}
    return reported


def leaked(bodies: list[Any]) -> list[str]:
    """Return the planted secrets that are in any request."""
    message = str(bodies)
    lines = [line for line in PEM.splitlines() if "-----" not in line]
    return [name for name, key in PLANTED.items() if key in message] + [
        line for line in lines if line in message
    ]


async def written(editor: FakeEditor) -> str:
    """Return the text of the document that `stet.ledger` shows."""
    uri = (await editor.command("stet.ledger"))["uri"]
    await editor.wait_until(lambda: [one for one in editor.shown_documents if one.uri == uri])
    return await asyncio.to_thread(Path(uri.removeprefix("file://")).read_text)


async def test_no_secret_reaches_a_request_from_anywhere(root: Path) -> None:
    pages = {
        "/search": found(TAVILY),
        "/p": page(f"<p>Log in with {PLANTED['page']}, please, today.</p>"),
    }
    async with WebServer(pages) as web:
        rounds = [
            api.call("read_file", file="c.py"),
            api.call("read_file", file="c.py", start_line=5),
            api.call("search_workspace", query="needle"),
            api.call("search_workspace", query="needle.*", mode="regex"),
            api.call("get_attached_context"),
            api.call("execute_command", name="show"),
            api.call("read_webpage", url=web.url("/p")),
            api.call("edit_file", file="c.py", old_text="nothing like it", new_text="x"),
        ]
        async with (
            OpenAIServer([*rounds, DONE, api.call("read_file", file="d.md"), DONE]) as server,
            FakeEditor.start(
                root, settings=settings(web), env={**provider(server), "SEARCH_KEY": "k"}
            ) as editor,
        ):
            uri = editor.open("a.py")
            editor.type(uri, 4, 0, f"unsaved = '{PLANTED['unsaved']}'\n")
            selection = {"start": {"line": 2, "character": 12}, "end": {"line": 2, "character": 70}}
            question = f"Use {PLANTED['question']} @d.md"
            turn = await run(editor, question, uri=uri, range=selection)
            assert turn["state"] == "completed", turn
            editor.type(uri, 5, 0, f"again = '{PLANTED['again']}'\n")
            await run(editor, "Go on", uri=uri)
            shown = await editor.command("stet.showContext", {"prompt": question, "uri": uri})
            ledger = await written(editor)
            bodies = [asked.body for asked in server.requests]
    assert len(bodies) == len(rounds) + 3
    assert leaked(bodies) == []
    assert leaked([shown]) == []
    reported = str(bodies[-1])
    marked = {re.sub(r" #\d+\]", "", mark) for mark in re.findall(r"\[redacted: [^]]*\]", reported)}
    assert {f"[redacted: {kind}" for kind in KINDS} | {"[redacted: private key line"} <= marked
    assert leaked([ledger]) == []
    assert "result of read_file c.py lines 1-" in ledger
    # Text that was sent once is repeated byte by byte.
    assert min(cached_share(before, after) for before, after in pairwise(bodies)) == 1.0


async def test_a_file_with_a_key_is_edited_and_the_key_stays(root: Path) -> None:
    before = (root / "a.py").read_text()
    mark = "[redacted: {}]"

    def edit(asked: HttpRequest) -> api.Reply:
        reported = str(asked.body["messages"][-1]["content"])
        [line] = [each for each in reported.splitlines() if "key = '" in each and "2\t" in each]
        quoted = line.partition("\t")[2]
        assert PLANTED["open"] not in quoted
        assert mark[:10] in quoted
        return api.call("edit_file", file="a.py", old_text=quoted, new_text=f"{quoted}  # the key")

    async with (
        OpenAIServer([edit, DONE]) as server,
        FakeEditor.start(root, settings=settings(), env=provider(server)) as editor,
    ):
        uri = editor.open("a.py")
        turn = await run(editor, "Comment the key", uri=uri)
        assert turn["state"] == "completed", turn
        await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        wanted = before.replace(f"{PLANTED['open']}'", f"{PLANTED['open']}'  # the key")
        await editor.wait_until(lambda: editor.text(uri) == wanted)
        assert leaked([asked.body for asked in server.requests]) == []


async def test_keys_are_sent_with_redaction_off_and_the_request_log_records_it(root: Path) -> None:
    async with (
        OpenAIServer([DONE]) as server,
        FakeEditor.start(
            root, settings=settings(redactSecrets=False), env=provider(server)
        ) as editor,
    ):
        await run(editor, "Hi", uri=editor.open("a.py"))
        text = await written(editor)
        assert "open" in leaked([server.requests[0].body])
    assert "Not checked for secrets (`privacy.redactSecrets` is off)." in text
    assert leaked([text]) == []


async def test_a_project_may_turn_it_on_but_not_off(root: Path) -> None:
    for mine, project, sent in ((True, "false", False), (False, "true", False)):
        (root / ".stet.toml").write_text(f"[privacy]\nredactSecrets = {project}\n")
        async with (
            OpenAIServer([DONE]) as server,
            FakeEditor.start(
                root, settings=settings(redactSecrets=mine), env=provider(server)
            ) as editor,
        ):
            await run(editor, "Hi", uri=editor.open("a.py"))
            assert ("open" in leaked([server.requests[0].body])) == sent


LEDGER = """\
# Request log

Every request that Stet sent from this workspace, latest first: to models (including local
ones), completion models, embedding endpoints, search APIs, web hosts, OpenCode, other agents
and MCP servers. The text itself is not stored here.
Detected keys and passwords were replaced by markers such as `[redacted: AWS key #1]`.

2 requests, about N tokens, 2 secrets redacted.

## TIME: model `gpt-5` at `HOST`

About N tokens (N characters), turn `t1`, chat `main`. Redacted: 1 GitHub token.

- `what was sent before (2 messages)`
- `the model's own answer`
- `result of read_file b.py lines 1-1 (N characters)`

## TIME: model `gpt-5` at `HOST`

About N tokens (N characters), turn `t1`, chat `main`. Redacted: 1 GitHub token.

- `the system prompt`
- `file a.py lines 1-1`
- `the question`
"""


async def test_request_log_lists_each_request_and_outlives_the_server(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text(f"k = '{keys()['GitHub token']}'\n")
    (root / "b.py").write_text("x = 1\n")
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with OpenAIServer([api.call("read_file", file="b.py"), DONE]) as server:
        host, env = f"127.0.0.1:{server.port}", {**provider(server), **state}
        given = {"model": {"provider": "openai", "name": "gpt-5"}}
        async with FakeEditor.start(root, settings=given, env=env) as editor:
            await run(editor, "Hi", uri=editor.open("a.py"))
        async with FakeEditor.start(root, settings=given, env=env) as editor:
            text = await written(editor)
            assert await editor.command("stet.requestLog") == await editor.command("stet.ledger")
            for name in ("stet.ledger", "stet.requestLog"):
                with pytest.raises(JsonRpcException, match=f"{name} has no argument 'what'"):
                    await editor.command(name, {"what": "x"})
    text = text.replace(host, "HOST")
    text = re.sub(r"[\d,]+(?= (?:tokens|characters))", "N", text)
    assert re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text) == LEDGER
