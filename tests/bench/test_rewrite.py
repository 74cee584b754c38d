"""The functions of the benchmark of rewrites, and where its table goes."""

from pathlib import Path

import pytest

from tests.bench import page
from tests.bench.page import write_rewrite
from tests.bench.rewrite import request_body
from tests.bench.rewrite_tasks import TASKS, WARM_UP, RewriteTask
from tests.bench.table import Row

PAGE = "# Benchmarks\n\nText.\n"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_task_is_one_function_of_about_20_lines_in_one_request(task: RewriteTask) -> None:
    compile(task.source, task.name, "exec")
    assert 18 <= task.source.count("\n") <= 23
    messages = request_body(task)["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user"]
    question = f"```python\n{task.source}```\n\n{task.request}"
    assert messages[1]["content"] == question


def test_there_are_ten_tasks_and_another_to_begin_with() -> None:
    assert len({task.source for task in (*TASKS, WARM_UP)}) == 11


def test_table_of_rewrites_is_added_and_then_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "benchmarks.md"
    path.write_text(PAGE)
    monkeypatch.setattr(page, "PAGE", path)
    write_rewrite([Row("old", "s", 4)], minutes=6)
    assert path.read_text().startswith(PAGE)
    path.write_text(f"{path.read_text()}\nMore.\n")
    write_rewrite([Row("new", "s", 5)], minutes=6)
    text = path.read_text()
    assert text.startswith(PAGE)
    assert text.endswith("\nMore.\n")
    assert "One run of `python -m tests.bench rewrite --write`, 6 minutes on " in text
    assert ("| new  | 5 s  |" in text, "| old " in text) == (True, False)
