"""The table of canned results."""

from dataclasses import replace
from pathlib import Path

from inline_snapshot import snapshot

from tests.agent_eval.arms import ARMS
from tests.agent_eval.report import BEGIN, END, PAGE, difference, report, write
from tests.agent_eval.results import Conditions, Result
from tests.parts import aider, opencode

CONDITIONS = Conditions("q", "abcdef0123456789", 16_384, 2, 180)


def result(arm: str, task: str, *, solved: bool, version: str = "1", tokens: int = 100) -> Result:
    return Result(
        task=task,
        digest="d",
        kind=task.partition("-")[0],
        held_out=False,
        arm=arm,
        version=version,
        conditions=CONDITIONS,
        solved=solved,
        failure="" if solved else "AssertionError",
        applied=True,
        wrong_files=() if solved else ("x.py",),
        shows_call=False,
        rounds=2,
        prompt_tokens=tokens,
        cached_tokens=0,
        completion_tokens=10,
        seconds=20.0,
        is_ended=False,
        exit_code=0,
        transcript="t.txt",
    )


RESULTS = [
    result("stet-agent", "bug-1", solved=False, version="old"),
    *(
        result("stet-agent", f"{kind}-{n}", solved=n < 3)
        for kind in ("bug", "rewrite")
        for n in range(4)
    ),
    *(
        result("aider", f"{kind}-{n}", solved=n < 2, tokens=400)
        for kind in ("bug", "rewrite")
        for n in range(4)
    ),
    result("opencode", "bug-9", solved=True),
]


def test_report_has_a_row_for_each_arm_and_paired_differences() -> None:
    assert report(RESULTS) == snapshot("""\
### q, tuning tasks

Model file sha256 `abcdef012345`, context 16384, 2 threads, temperature 0, at most 180 s a task.

| arm | tasks | solved | bugs | rewrites | projects | edit applied | wrong file | call shown | ended | rounds | tokens in | of them cached | tokens out | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| stet-agent 1 | 8 | 6 | 3 of 4 | 3 of 4 | - | 8 | 2 | 0 | 0 | 2.0 | 100 | 0 | 10 | 20 |
| aider 1 | 8 | 4 | 2 of 4 | 2 of 4 | - | 8 | 4 | - | 0 | 2.0 | 400 | 0 | 10 | 20 |
| opencode 1 | 1 | 1 | 1 of 1 | - | - | 1 | 0 | 0 | 0 | 2.0 | 100 | 0 | 10 | 20 |

| difference | tasks | solved, points | tokens | seconds |
| --- | --- | --- | --- | --- |
| stet-agent - aider | 8 | +25 (+0 to +62) | -300 (-300 to -300) | +0 (+0 to +0) |\
""")


def test_report_of_other_conditions_is_another_table() -> None:
    slow = replace(CONDITIONS, threads=1)
    others = [replace(result("aider", "bug-1", solved=True), conditions=slow)]
    text = report([*RESULTS, *others, replace(others[0], held_out=True)])
    assert text.startswith(report(RESULTS))
    assert [line for line in text.splitlines() if line.startswith("###")] == [
        "### q, tuning tasks",
        "### q, tuning tasks",
        "### q, held-out tasks",
    ]


def test_report_of_nothing_says_so() -> None:
    assert report([]) == "No results."


def test_difference_without_a_common_task_is_none() -> None:
    ours = [result("stet-agent", "bug-1", solved=True)]
    assert (
        difference(ours, [result("aider", "bug-2", solved=True)], lambda one: one.seconds) is None
    )


def test_difference_that_is_the_same_for_all_tasks_has_no_width() -> None:
    ours, others = (
        [result(arm, f"bug-{n}", solved=True, tokens=tokens) for n in range(5)]
        for arm, tokens in (("stet-agent", 100), ("aider", 400))
    )
    found = difference(ours, others, lambda one: float(one.tokens))
    assert found is not None
    assert (found.value, found.low, found.high) == (-300, -300, -300)


def test_write_leaves_the_rest_of_the_page_as_it_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}old\n{END}below\n")
    write(RESULTS, page)
    text = page.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "old\n" not in text
    assert "| stet-agent 1 |" in text


def test_page_has_a_place_for_the_table() -> None:
    text = PAGE.read_text()
    assert (text.count(BEGIN), text.count(END)) == (1, 1)


def test_page_names_the_versions_and_arms_that_are_run() -> None:
    text = PAGE.read_text()
    for words in (f"aider {aider.VERSION}", f"OpenCode {opencode.VERSION}", *ARMS):
        assert words in text
