"""The agents that are compared: how each is started on a task, and how it shows its answer.

None runs commands: Stet and aider don't unless they are allowed to, and OpenCode's tools for
commands and web pages are off, since a small model decides here unwatched. Everything else is as a
user gets it who follows the program's documentation for an OpenAI-compatible server.
"""

import hashlib
import inspect
import json
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.agent_eval.task import Task
from tests.parts import aider, opencode

ROOT = Path(__file__).parents[2]
MAX_OUTPUT = 2048
"""Tokens of one answer that OpenCode and aider are told the model can write."""
_CALL = re.compile(
    r"""<(?:tools?|tool_call|function_call)\b|["']arguments["']\s*:|"(?:old_text|oldString)"\s*:"""
)


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where an agent works on one task.

    Attributes:
        folder: The files of the task, a git repository with one commit.
        home: A home folder that nothing has used before.
        base_url: The model's address.
        model: The model's name.
        context: The tokens of the model's context window.
    """

    folder: Path
    home: Path
    base_url: str
    model: str
    context: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command line and what it needs in its environment."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)


class Arm(ABC):
    """An agent. `name` is its key in `ARMS`."""

    name: str

    @abstractmethod
    def version(self) -> str:
        """Return what is measured: a commit or a version.

        Raises:
            MissingPart: If the program is not available.
        """

    @abstractmethod
    def command(self, task: Task, workplace: Workplace) -> Command:
        """Write the agent's settings, and return how it is started on a task."""

    @abstractmethod
    def shown_answer(self, output: str) -> str:
        """Return what the user is shown as the agent's words, from the standard output."""

    def shows_call(self, output: str) -> bool:
        """Tell whether the user is shown a tool call in the place of an answer."""
        return _CALL.search(self.shown_answer(output)) is not None


def _digest(arm: type[Arm]) -> str:
    """Return a short hash of the source of an arm."""
    return hashlib.sha256(inspect.getsource(arm).encode()).hexdigest()[:6]


class StetArm(Arm):
    """`stet ask`, which accepts all proposals at its end."""

    def __init__(self, mode: Literal["agent", "rewrite"]) -> None:
        self.name = f"stet-{mode}"
        self._mode = mode

    def version(self) -> str:
        """Return the commit of this checkout, and whether it has been changed."""
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        return subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    def command(self, task: Task, workplace: Workplace) -> Command:
        """Return the command; in the mode `rewrite` the symbol is selected."""
        config = workplace.home / ".config" / "stet" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            '[model]\nprovider = "llamacpp"\n'
            f"baseUrl = {json.dumps(workplace.base_url)}\nname = {json.dumps(workplace.model)}\n"
        )
        place = task.file
        if self._mode == "rewrite":
            first, last = task.lines()
            place = f"{task.file}:{first}-{last}"
        return Command(
            [
                sys.executable, "-I", "-m", "stet.cli.main", "ask", task.prompt, "--file", place,
                "--mode", self._mode, "--accept", "all", "--yes", "--json",
            ]
        )  # fmt: skip

    def shown_answer(self, output: str) -> str:
        """Return the answer and the summary of the JSON that `stet ask` prints."""
        lines = output.strip().splitlines()
        try:
            reported = json.loads(lines[-1]) if lines else {}
        except json.JSONDecodeError:
            return output
        return f"{reported.get('answer') or ''}\n{reported.get('summary') or ''}"


class AiderArm(Arm):
    """`aider --message` with the open file in the chat and its map of the repository."""

    name = "aider"

    def version(self) -> str:
        """Return the installed version, and a hash of how it is started."""
        aider.ensure()
        return f"{aider.VERSION}+{_digest(type(self))}"

    def command(self, task: Task, workplace: Workplace) -> Command:
        """Return the command; aider is told the size of the model's window."""
        model = f"openai/{workplace.model}"
        metadata = workplace.home / "model.json"
        metadata.write_text(
            json.dumps(
                {
                    model: {
                        "max_input_tokens": workplace.context,
                        "max_output_tokens": MAX_OUTPUT,
                        "input_cost_per_token": 0,
                        "output_cost_per_token": 0,
                        "litellm_provider": "openai",
                        "mode": "chat",
                    }
                }
            )
        )
        options = [
            "--yes-always", "--no-stream", "--no-pretty", "--no-fancy-input", "--no-auto-commits",
            "--no-dirty-commits", "--no-gitignore", "--no-check-update",
            "--no-show-release-notes", "--no-show-model-warnings", "--analytics-disable",
            "--no-detect-urls", "--no-suggest-shell-commands", "--disable-playwright",
        ]  # fmt: skip
        histories = {
            f"--{kind}-history-file": str(workplace.home / kind) for kind in ("input", "chat")
        }
        return Command(
            [
                aider.interpreter(), "-s", "-m", "aider", "--model", model,
                "--model-metadata-file", str(metadata), *options,
                *(part for pair in histories.items() for part in pair),
                "--message", task.prompt, task.file,
            ],
            {
                "PYTHONPATH": str(aider.ensure()),
                "OPENAI_API_BASE": workplace.base_url,
                "OPENAI_API_KEY": "none",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
        )  # fmt: skip

    def shown_answer(self, output: str) -> str:
        """Return the whole output: aider's edits are part of the text that it shows."""
        return output

    def shows_call(self, output: str) -> bool:
        """Return False: aider has no tool calls."""
        return False


class OpenCodeArm(Arm):
    """`opencode run` with a provider for OpenAI-compatible servers, as its documentation says."""

    name = "opencode"

    def version(self) -> str:
        """Return the installed version, and a hash of how it is started."""
        opencode.opencode()
        return f"{opencode.VERSION}+{_digest(type(self))}"

    def command(self, task: Task, workplace: Workplace) -> Command:
        """Return the command; the open file is attached, as in the others, and a title is given, so
        that no request is spent on one.
        """
        limit = {"context": workplace.context, "output": MAX_OUTPUT}
        config = {
            "autoupdate": False,
            "share": "disabled",
            "provider": {
                "local": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "local",
                    "options": {"baseURL": workplace.base_url, "apiKey": "none"},
                    "models": {workplace.model: {"limit": limit, "tool_call": True}},
                }
            },
            "model": f"local/{workplace.model}",
            "small_model": f"local/{workplace.model}",
            "permission": {
                "edit": "allow", "bash": "deny", "webfetch": "deny", "external_directory": "deny",
            },
        }  # fmt: skip
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        return Command(
            [
                str(opencode.opencode()),
                "run",
                task.prompt,
                "--format",
                "json",
                "--title",
                "task",
                "--file",
                task.file,
            ],
            {
                "OPENCODE_CONFIG_CONTENT": json.dumps(config),
                **{f"OPENCODE_DISABLE_{what}": "1" for what in off},
            },
        )

    def shown_answer(self, output: str) -> str:
        """Return the texts of the events that it prints, one JSON object a line."""
        texts = []
        for line in output.splitlines():
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(event, dict) and event.get("type") == "text":
                texts.append(str((event.get("part") or {}).get("text", "")))
        return "\n".join(texts)


ARMS: Mapping[str, Arm] = {
    arm.name: arm for arm in (StetArm("rewrite"), StetArm("agent"), AiderArm(), OpenCodeArm())
}
