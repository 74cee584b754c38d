"""The command line, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.agent_eval.__main__ import main
from tests.agent_eval.model_server import ModelServerFailed, ServerOptions, model_server
from tests.agent_eval.results import Conditions, Result, ResultFile

RESULT = Result(
    task="bug-8",
    digest="d",
    kind="bug",
    held_out=True,
    arm="stet-agent",
    version="an earlier commit",
    conditions=Conditions("m", "0" * 64, 16_384, 2, 180),
    solved=True,
    failure="",
    applied=True,
    wrong_files=(),
    shows_call=False,
    rounds=1,
    prompt_tokens=1,
    cached_tokens=0,
    completion_tokens=1,
    seconds=1.0,
    is_ended=False,
    exit_code=0,
    transcript="t.txt",
)


@pytest.mark.usefixtures("all_tasks")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--model PATH is missing"),
        (["--model", "m.gguf", "--tasks", "bug-none"], "no task of this half has such an id"),
        (["--model", "m.gguf", "--held-out"], "already looked at with an earlier commit"),
    ],
)
def test_runs_that_can_not_begin_are_refused(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ResultFile(tmp_path).append(RESULT)
    assert main([*arguments, "--results", str(tmp_path)]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.usefixtures("all_tasks")
def test_missing_model_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.gguf"
    assert main(["--model", str(model), "--results", str(tmp_path)]) == 1
    assert str(model) in capsys.readouterr().err


def test_report_prints_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arm in ("stet-agent", "aider"):
        ResultFile(tmp_path).append(replace(RESULT, arm=arm))
    assert main(["--report", "--results", str(tmp_path)]) == 0
    assert "| stet-agent - aider | 1 | +0 (+0 to +0) |" in capsys.readouterr().out


async def test_model_server_says_why_a_file_is_no_model(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    model = tmp_path / "m.gguf"
    model.write_bytes(b"GGUF?")
    with pytest.raises(ModelServerFailed, match=r"m\.gguf can't be run: RuntimeError"):
        async with model_server(ServerOptions(str(model))):
            pass
