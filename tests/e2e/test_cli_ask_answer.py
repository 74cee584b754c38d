"""The answer of `stet ask`: Markdown on a terminal while the model writes it, plain text in a
pipe.
"""

import asyncio
from pathlib import Path

import pytest

from stet.llm.model import Completion, ToolCall
from tests.support.openai_server import End, OpenAIServer, Reply, delta, say
from tests.support.shell import Screen, Shell

ANSWER = """\
# The cart

It adds `total` up, in a line that has to be wrapped in a terminal of eighty columns, I think.

```python
x = 1
```

See [the page](https://example.org)."""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("f.py", "x = 1\n")
    shell.env["COLUMNS"] = "80"
    return shell


def ask_model(shell: Shell, server: OpenAIServer) -> None:
    shell.env |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.base_url, "no_proxy": "*"}


async def test_answer_is_markdown_on_a_terminal_and_plain_text_in_a_pipe(shell: Shell) -> None:
    async with OpenAIServer([say(ANSWER), say(ANSWER)]) as server:
        ask_model(shell, server)
        screen = Screen(shell, ["ask", "What is it?"])
        assert await asyncio.to_thread(screen.ended) == 0
        piped = await asyncio.to_thread(shell.run, "ask", "What is it?")
    assert piped.stdout == f"{ANSWER}\n"
    final = screen.shown.rpartition("See ")[2]
    assert "https://example.org" in final
    assert "# The cart" not in screen.shown
    assert "```" not in screen.shown


async def test_answer_is_shown_while_the_model_writes_and_stays_after_ctrl_c(shell: Shell) -> None:
    written = Reply([delta(content="First.\n\n"), delta(content="Second par")], end=End.HANG)
    async with OpenAIServer([written]) as server:
        ask_model(shell, server)
        screen = Screen(shell, ["ask", "What is it?"])
        await asyncio.to_thread(screen.wait_for, "Second par")
        screen.interrupt()
        assert await asyncio.to_thread(screen.ended) == 130
    after = screen.shown.rpartition("Second par")[2]
    assert "\x1b[?25h" in screen.shown[screen.shown.rindex("\x1b[?25l") :]
    assert "stet: cancelled" in after
    assert "First." not in after
    assert shell.left_running() == []


async def test_answer_of_several_rounds_is_shown_once(shell: Shell) -> None:
    read = Completion("I look.", (ToolCall("a", "read_file", '{"file": "f.py"}'),))
    async with OpenAIServer([read, say("It is one.\n\nNo more.")]) as server:
        ask_model(shell, server)
        screen = Screen(shell, ["ask", "What is x?", "--file", "f.py"])
        assert await asyncio.to_thread(screen.ended) == 0
    settled = [line.strip() for line in screen.shown.replace("\r", "\n").split("\n")]
    assert settled.count("It is one.") == 1
    assert [
        word for word in ("I look.", "It is one.", "No more.") if word not in screen.shown
    ] == []


async def test_progress_is_lines_without_a_terminal_and_nothing_with_json(shell: Shell) -> None:
    edit = {"file": "f.py", "old_text": "x = 1", "new_text": "x = 2"}
    replies = (
        {"tool_calls": [{"name": "edit_file", "arguments": edit}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Two."}}]},
    )
    shell.script(*replies)
    done = await asyncio.to_thread(shell.run, "ask", "Two.", "--file", "f.py")
    lines = done.stderr.splitlines()
    assert [line for line in lines if "f.py" in line and "edit" in line]
    assert len(lines) == len(set(lines))
    silent = await asyncio.to_thread(shell.run, "ask", "Two.", "--file", "f.py", "--json")
    assert silent.stderr == ""
