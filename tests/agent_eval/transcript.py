"""What an agent and the model said to each other on one task, as a text to read."""

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agent_eval.counting_proxy import Exchange
from tests.agent_eval.task import Task

_MAX_OUTPUT = 20_000
"""Characters of the end of each output of a program."""


def transcript(
    task: Task,
    after: Mapping[str, str],
    exchanges: Sequence[Exchange],
    outputs: tuple[str, str],
    failure: str,
) -> str:
    """Return the requests with their answers, the outputs, and the changes of the files.

    Args:
        task: The task.
        after: The files as they were left.
        exchanges: The requests to the model.
        outputs: The standard output and the standard error of the agent.
        failure: Why the check failed, or "".
    """
    parts = [_headed("task", f"{task.id}\n{task.prompt}")]
    n_shown = 0
    for number, exchange in enumerate(exchanges, 1):
        messages = exchange.request.get("messages") or []
        # Most requests repeat the ones before them.
        new = messages[n_shown:] if len(messages) > n_shown else messages
        n_shown = len(messages)
        parts += [_headed(f"{message.get('role')} {number}", _text(message)) for message in new]
        calls = "".join(f"\n-> {name}({arguments})" for name, arguments in exchange.calls.values())
        state = "" if exchange.is_whole else " (not whole)"
        head = (
            f"answer {number}{state}: {exchange.prompt_tokens} + {exchange.completion_tokens} tokens,"
            f" {len(exchange.request.get('tools') or ())} tools"
        )
        parts.append(_headed(head, f"{exchange.text}{calls}{exchange.error}"))
    for name, text in zip(("output", "errors"), outputs, strict=True):
        parts.append(_headed(name, text[-_MAX_OUTPUT:]))
    parts.append(_headed("changes", _diff(task.files, after)))
    parts.append(_headed("check", failure or "passed"))
    return "\n".join(parts)


def _headed(title: str, text: str) -> str:
    return f"==== {title}\n{text.strip()}\n"


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", part)) for part in content)
    calls = message.get("tool_calls")
    return f"{content}\n{json.dumps(calls)}" if calls else str(content)


def _diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    lines: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name, ""), after.get(name, "")
        lines += difflib.unified_diff(
            old.splitlines(), new.splitlines(), name, name, lineterm="", n=2
        )
    return "\n".join(lines)
