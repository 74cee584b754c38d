"""The results of runs: one JSON line each in a file that is only appended to."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all arms of a run.

    Attributes:
        model: The model's name.
        sha256: The hash of its file.
        context: The tokens of its context window.
        threads: The threads that compute.
        limit: Seconds after which an agent is ended.
    """

    model: str
    sha256: str
    context: int
    threads: int
    limit: int


@dataclass(frozen=True, slots=True)
class Result:
    """What one agent did with one task.

    Attributes:
        task: The id of the task.
        digest: The hash of the task.
        kind: The kind of the task.
        held_out: Whether the task is one that no tuning may look at.
        arm: The name of the arm.
        version: What was measured: Stet's commit, or the version of the program with a hash of
            how it is started.
        conditions: What was the same for all arms.
        solved: Whether the check passed.
        failure: Why it did not; "" if it did.
        applied: Whether any file was changed.
        wrong_files: The changed files that the reference solution does not change.
        shows_call: Whether a tool call stands in the place of an answer.
        rounds: The number of requests to the model.
        prompt_tokens: Tokens of all prompts together, also those that the server still knew.
        cached_tokens: Those that the server still knew from the request before.
        completion_tokens: Tokens of all answers together.
        seconds: How long the agent ran.
        is_ended: Whether the limit of time ended it.
        exit_code: The exit code of the agent; negative after a signal.
        transcript: The file with its requests, answers and changes, relative to the results.
    """

    task: str
    digest: str
    kind: str
    held_out: bool
    arm: str
    version: str
    conditions: Conditions
    solved: bool
    failure: str
    applied: bool
    wrong_files: tuple[str, ...]
    shows_call: bool
    rounds: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float
    is_ended: bool
    exit_code: int
    transcript: str

    @property
    def key(self) -> "Key":
        """Return what makes a second run of the same unnecessary."""
        return self.task, self.digest, self.arm, self.version, self.conditions

    @property
    def tokens(self) -> int:
        """Return the tokens of prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens


Key = tuple[str, str, str, str, Conditions]


class ResultFile:
    """The results in a folder.

    Args:
        folder: The folder; made if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "results.jsonl"

    def append(self, result: Result) -> None:
        """Add a result; it is on the disk when this returns."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")

    def read(self) -> list[Result]:
        """Return the last result of each key, oldest first; a line that was cut off is left out."""
        found: dict[Key, Result] = {}
        for result in self._lines():
            found.pop(result.key, None)
            found[result.key] = result
        return list(found.values())

    def _lines(self) -> Iterator[Result]:
        if not self._path.exists():
            return
        names = {field.name for field in fields(Result)}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(row, dict) and set(row) == names:
                row["conditions"] = Conditions(**row["conditions"])
                row["wrong_files"] = tuple(row["wrong_files"])
                yield Result(**row)
