"""What a person writes for a file and some of its lines."""

from pathlib import Path

import pytest

from stet.cli.files import FileArgument, parse_file_argument, workspace_folder
from stet.cli.terminal import CliError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.py", "odd:3"):
        (tmp_path / name).write_text("x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("written", "name", "lines"),
    [
        ("a.py", "a.py", None),
        ("a.py:2", "a.py", (2, 2)),
        ("a.py:2-30", "a.py", (2, 30)),
        ("odd:3", "odd:3", None),
        ("odd:3:1-2", "odd:3", (1, 2)),
    ],
)
def test_a_file_and_its_lines(
    folder: Path, written: str, name: str, lines: tuple[int, int] | None
) -> None:
    assert parse_file_argument(written) == FileArgument(folder / name, lines)


@pytest.mark.parametrize("written", ["b.py", "b.py:1", "a.py:0", "a.py:3-2", "a.py:1-2-3", ""])
def test_invalid_location_is_a_usage_error(folder: Path, written: str) -> None:
    with pytest.raises(CliError) as error:
        parse_file_argument(written)
    assert error.value.code == 2


def test_the_workspace_is_where_one_is_unless_the_file_lies_elsewhere(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    assert workspace_folder(None, None) == folder
    assert workspace_folder(None, FileArgument(folder / "sub" / "a.py")) == folder
    assert workspace_folder(None, FileArgument(other / "a.py")) == other
    assert workspace_folder(other, FileArgument(folder / "a.py")) == other
    with pytest.raises(CliError):
        workspace_folder(folder / "nope", None)
