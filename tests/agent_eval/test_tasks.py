"""The tasks: each is unsolved before, solved by its reference, and in one half."""

import ast
import hashlib
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agent_eval.__main__ import choose
from tests.agent_eval.checking import failure
from tests.agent_eval.mutations import OPERATORS, Mutation, mutate, mutations
from tests.agent_eval.task import Task, held_out


def test_tasks_are_sixty_of_three_kinds_and_24_are_held_out(all_tasks: Mapping[str, Task]) -> None:
    assert Counter(task.kind for task in all_tasks.values()) == {
        "bug": 30,
        "rewrite": 15,
        "project": 15,
    }
    assert held_out() <= set(all_tasks)
    held = Counter(all_tasks[name].kind for name in held_out())
    assert held == {"bug": 12, "rewrite": 6, "project": 6}
    for kind, n in held.items():
        names = [task.id for task in all_tasks.values() if task.kind == kind]
        ordered = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        assert set(ordered[:n]) == {name for name in names if name in held_out()}


@pytest.mark.parametrize("kind", ["bug", "rewrite", "project"])
def test_checks_fail_before_and_pass_with_the_reference_solution(
    all_tasks: Mapping[str, Task], kind: str
) -> None:
    of_kind = [task for task in all_tasks.values() if task.kind == kind]
    with ThreadPoolExecutor(2) as pool:
        before = list(pool.map(lambda task: failure(task, task.files), of_kind))
        after = list(pool.map(lambda task: failure(task, task.solved_files), of_kind))
    names = [task.id for task in of_kind]
    assert [name for name, reason in zip(names, before, strict=True) if not reason] == []
    assert {name: reason for name, reason in zip(names, after, strict=True) if reason} == {}


def test_tasks_name_their_file_and_select_a_definition_in_it(
    all_tasks: Mapping[str, Task],
) -> None:
    for task in all_tasks.values():
        assert task.file in task.prompt, task.id
        first, last = task.lines()
        text = "\n".join(task.files[task.file].splitlines()[first - 1 : last])
        assert task.symbol in text.split("(")[0], task.id
        for text in {**task.files, **task.solution}.values():
            ast.parse(text)


def test_projects_have_three_to_six_files_and_mostly_need_another_than_the_open_one(
    all_tasks: Mapping[str, Task],
) -> None:
    projects = [task for task in all_tasks.values() if task.kind == "project"]
    assert {len(task.files) for task in projects} <= {3, 4, 5, 6}
    inside = [task.id for task in projects if set(task.solution) == {task.file}]
    assert inside == ["project-duplicate_function"]


def test_choose_takes_one_half_and_the_first_of_each_kind(all_tasks: Mapping[str, Task]) -> None:
    tuning = choose([], 0, is_held_out=False)
    held = choose([], 0, is_held_out=True)
    assert (len(tuning), len(held)) == (36, 24)
    assert {task.id for task in tuning} == set(all_tasks) - held_out()
    assert [task.kind for task in choose([], 1, is_held_out=False)] == ["bug", "rewrite", "project"]
    assert choose([held[0].id], 0, is_held_out=False) == []


def test_checks_end_what_runs_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.agent_eval.checking.SECONDS", 0.2)
    task = Task("t", "bug", "", "a.py", "a", {}, {}, "while True: pass")
    assert failure(task, {}) == "it ran for more than 0.2 s"


SOURCE = '''\
def pick(items, low=0):
    """Return some of the items."""
    found = []
    step = 1
    for n in range(step, len(items)):
        if n == 0:
            continue
        if not items[n] < low and abs(items[n]) != 7:
            found.append(max(items[n], low + 1))
    return found


def other(x):
    return x + 1
'''
MUTANTS = {
    "boundary": [("< low", "<= low")],
    "flipped comparison": [("n == 0", "n != 0"), ("< low", "> low"), ("!= 7", "== 7")],
    "wrong operator": [("low + 1", "low - 1")],
    "one too many": [("range(step,", "range(step + 1,"), ("len(items))", "len(items) + 1)")],
    "one too few": [("range(step,", "range(step - 1,"), ("len(items))", "len(items) - 1)")],
    "initial value": [("step = 1", "step = 0")],
    "boolean operator": [(" and ", " or ")],
    "negation": [("not items[n] < low", "items[n] < low")],
    "missing case": [("if n == 0:\n            continue", "pass")],
    "swapped arguments": [
        ("range(step, len(items))", "range(len(items), step)"),
        ("max(items[n], low + 1)", "max(low + 1, items[n])"),
    ],
    "missing step": [("len(items)", "items"), ("abs(items[n])", "items[n]")],
    "wrong function": [
        ("found.append(max(items[n], low + 1))", "found.extend(max(items[n], low + 1))"),
        ("max(", "min("),
    ],
}


def test_mutations_change_one_place_of_the_function() -> None:
    made: dict[str, list[str]] = {name: [] for name in OPERATORS}
    for mutation in mutations(SOURCE, "pick"):
        made[mutation.operator].append(mutate(SOURCE, "pick", mutation))
    expected = {
        name: [SOURCE.replace(old, new, 1) for old, new in pairs] for name, pairs in MUTANTS.items()
    }
    assert made == expected


def test_mutations_of_what_is_not_there_are_an_error() -> None:
    with pytest.raises(LookupError):
        mutate(SOURCE, "missing", Mutation("boundary", 0))
    with pytest.raises(LookupError):
        mutate(SOURCE, "pick", Mutation("boundary", 9))
