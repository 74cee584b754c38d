"""Turns of a real server, with a scripted model or a loopback provider, from a fake editor."""

import json
from pathlib import Path
from typing import Any

from tests.support.editor import FakeEditor
from tests.support.openai_server import OpenAIServer

Reply = dict[str, Any]


def calls(*wanted_calls: tuple[str, dict[str, Any]], text: str = "") -> Reply:
    """Make a model's answer that calls tools."""
    return {
        "text": text,
        "tool_calls": [{"name": name, "arguments": arguments} for name, arguments in wanted_calls],
    }


def edit(file: str, old: str, new: str, summary: str = "") -> tuple[str, dict[str, Any]]:
    """Make a call of `edit_file`."""
    return "edit_file", {"file": file, "old_text": old, "new_text": new, "summary": summary}


def done(summary: str = "Done.") -> Reply:
    """Make the last answer of most turns."""
    return calls(("done", {"summary": summary}))


def scripted(folder: Path, *replies: Reply) -> dict[str, str]:
    """Return the environment that makes the server's model give these replies, in order."""
    path = folder / "script.json"
    path.write_text(json.dumps(replies))
    return {"STET_SCRIPTED_MODEL": str(path)}


def provider(server: OpenAIServer) -> dict[str, str]:
    """Return the environment that makes the server use a loopback provider."""
    return {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": server.base_url, "no_proxy": "*"}


async def ask(editor: FakeEditor, prompt: str, **arguments: Any) -> str:
    """Ask; return the turn's id at once."""
    answer = await editor.command("stet.ask", {"prompt": prompt, **arguments})
    return str(answer["turn"])


async def end_of(editor: FakeEditor, turn: str) -> Any:
    """Return the finished turn as `stet.turn` answers it, after the end of its progress.

    A turn that ends before the editor has answered `window/workDoneProgress/create` has no progress.
    """
    while True:
        # Read before the request: the awaited message may arrive together with the answer.
        arrived = editor.n_news
        found = await editor.command("stet.turn", {"turn": turn})
        is_over = found["state"] not in ("queued", "running", "waiting")
        if is_over and not _is_in_progress(editor, f"Stet: {found['prompt']}"):
            return found
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]


async def run(editor: FakeEditor, prompt: str, **arguments: Any) -> Any:
    """Ask and wait for the end; return the turn."""
    return await end_of(editor, await ask(editor, prompt, **arguments))


async def run_answering(editor: FakeEditor, prompt: str, *answers: str, **arguments: Any) -> Any:
    """Ask, answer the turn's questions in order, and wait for the end."""
    turn, last = await ask(editor, prompt, **arguments), ""
    for answer in answers:
        last = await question_of(editor, turn, after=last)
        await editor.command("stet.answer", {"question": last, "text": answer})
    return await end_of(editor, turn)


async def question_of(editor: FakeEditor, turn: str, after: str = "") -> str:
    """Return the id of the turn's question, once it is another than `after`."""
    while True:
        # Read before the request: the awaited message may arrive together with the answer.
        arrived = editor.n_news
        found = await editor.command("stet.turn", {"turn": turn})
        if found["question"] and found["question"]["id"] != after:
            return str(found["question"]["id"])
        assert found["state"] in ("queued", "running", "waiting"), found
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]


async def states(editor: FakeEditor) -> dict[str, str]:
    """Return the state of every hunk by its id."""
    return {hunk["hunk"]: hunk["state"] for hunk in await editor.command("stet.proposals")}


async def wait_for_states(editor: FakeEditor, **wanted: str) -> None:
    """Wait until these hunks are in these states."""
    while True:
        # Read before the request: the awaited message may arrive together with the answer.
        arrived = editor.n_news
        now = await states(editor)
        if all(now.get(hunk) == state for hunk, state in wanted.items()):
            return
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]


def _is_in_progress(editor: FakeEditor, title: str) -> bool:
    """Tell whether the last progress of that title has begun and not ended."""
    shown = [reports for reports in editor.progress_reports.values() if reports]
    reports = [one for one in shown if getattr(one[0], "title", "") == title]
    return bool(reports) and getattr(reports[-1][-1], "kind", "") != "end"
