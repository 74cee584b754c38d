"""Tasks: a folder of files, a sentence for the agent, and a check that the agent does not see.

Three kinds: `bug` (a function of HumanEval with one mutation), `rewrite` (one function, an
instruction) and `project` (a few files). Bugs are built from `tasks/bugs.toml` and the data of the
package; each of the others is a file of `tasks/rewrites` or `tasks/projects`.
"""

import ast
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tests.agent_eval.mutations import Mutation, mutate
from tests.parts import human_eval

Kind = Literal["bug", "rewrite", "project"]
FOLDER = Path(__file__).with_name("tasks")
HELD_OUT = FOLDER / "held_out.txt"
_RUN_TEST = """\
from {module} import {function}
{test}
check({function})
"""


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is asked, and how its work is judged.

    Attributes:
        id: The name, unique among all tasks.
        kind: What it is made of.
        prompt: What the agent is asked; it names the file.
        file: The file that the user has open, relative to the folder.
        symbol: The function or class in `file` that the user has selected.
        files: The texts before, by their paths.
        solution: The texts that a right solution changes, by their paths.
        check: A Python program that runs in the folder and ends with 0 if the task is solved.
    """

    id: str
    kind: Kind
    prompt: str
    file: str
    symbol: str
    files: Mapping[str, str]
    solution: Mapping[str, str]
    check: str

    @property
    def solved_files(self) -> dict[str, str]:
        """Return the texts of the reference solution."""
        return {**self.files, **self.solution}

    @property
    def digest(self) -> str:
        """Return a hash of all that decides on a result, so that results of changed tasks show."""
        parts = (self.prompt, self.file, self.symbol, sorted(self.files.items()), self.check)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    def lines(self) -> tuple[int, int]:
        """Return the first and the last line of the symbol, 1-based.

        Raises:
            LookupError: If the file does not define it.
        """
        for node in ast.walk(ast.parse(self.files[self.file])):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == self.symbol:
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                return first, node.end_lineno or node.lineno
        raise LookupError(f"{self.id}: {self.file} defines no {self.symbol!r}")


@cache
def tasks() -> Mapping[str, Task]:
    """Return all tasks by their ids, in the order of the kinds and names.

    Raises:
        MissingPart: If the data of HumanEval is not available.
    """
    written = [
        _written(path, kind)
        for kind, folder in (("rewrite", "rewrites"), ("project", "projects"))
        for path in sorted((FOLDER / folder).glob("*.toml"))
    ]
    found = [*_bugs(), *written]
    return {task.id: task for task in found}


def held_out() -> frozenset[str]:
    """Return the ids of the tasks that no tuning may look at.

    They are the first 12, 6 and 6 of each kind in the order of the sha256 of their ids.
    """
    return frozenset(HELD_OUT.read_text().split())


def _bugs() -> list[Task]:
    rows = tomllib.loads((FOLDER / "bugs.toml").read_text())["bug"]
    return [_bug(row, human_eval.problems()[row["problem"]]) for row in rows]


def _bug(row: Mapping[str, Any], problem: human_eval.Problem) -> Task:
    mutation = Mutation(row["operator"], row["place"])
    module = problem.function
    file = f"{module}.py"
    return Task(
        f"bug-{problem.id.rpartition('/')[2]}",
        "bug",
        f"In {file}, {row['symptom']} Fix it.",
        file,
        problem.function,
        {file: mutate(problem.source, problem.function, mutation)},
        {file: problem.source},
        _RUN_TEST.format(module=module, function=problem.function, test=problem.test),
    )


def _written(path: Path, kind: str) -> Task:
    row = tomllib.loads(path.read_text())
    assert kind in ("rewrite", "project")
    return Task(
        f"{kind}-{path.stem}",
        kind,  # type: ignore[arg-type]
        row["prompt"],
        row["file"],
        row["symbol"],
        row["before"],
        row["after"],
        row["check"],
    )
