"""The hooks of an agent in a test: what they reply, and what they were given."""

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).with_name("recording_hook.py")


class Hooks:
    """The hooks of one run.

    Args:
        folder: A folder for their rules and their log.
        replies: The reply to each event that gets one; `{"$redirected": NAME}` in it is the value of
            that name in the input with other paths.
        redirects: Each path that is replaced in such a value, and its replacement.

    Attributes:
        rules: The file that the hooks read.
    """

    def __init__(
        self, folder: Path, replies: Mapping[str, Any], redirects: Mapping[str, Path]
    ) -> None:
        self.rules = folder / "rules.json"
        self._log = folder / "hooks.jsonl"
        paths = {old: str(new) for old, new in redirects.items()}
        self.rules.write_text(
            json.dumps({"log": str(self._log), "replies": replies, "redirects": paths})
        )

    def command(self, event: str) -> str:
        """Return the shell command of an event's hook."""
        return shlex.join([sys.executable, "-I", str(_PROGRAM), str(self.rules), event])

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Return each event with the input of its hook, oldest first."""
        if not self._log.exists():
            return []
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return [(event, given) for event, given in map(json.loads, lines)]

    def inputs_of(self, event: str) -> list[dict[str, Any]]:
        """Return the inputs of the hooks of one event, oldest first."""
        return [given for name, given in self.events if name == event]
