"""A refused edit as a page that `git apply` takes."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.lsp.patch import patch


def test_a_patch_has_three_lines_round_each_change() -> None:
    before = "".join(f"{n}\n" for n in range(1, 21))
    after = before.replace("\n5\n", "\nfive\n").replace("18\n", "")
    assert patch("a.txt", before, after) == (
        "--- a/a.txt\n+++ b/a.txt\n"
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        "@@ -15,6 +15,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n"
    )


def test_a_missing_line_end_is_said() -> None:
    assert patch("a", "x", "y\n") == (
        "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("patched")


_LINES = st.lists(st.sampled_from(["a", "b", "", "c d"]), min_size=1, max_size=30)


@settings(max_examples=30, deadline=None)
@given(_LINES, _LINES, st.booleans())
def test_git_makes_of_the_file_what_was_meant(
    folder: Path, before: list[str], after: list[str], ended: bool
) -> None:
    old = "\n".join(before) + "\n"
    new = "\n".join(after) + ("\n" if ended else "")
    if old == new or not new:
        return
    (folder / "a.txt").write_text(old)
    done = subprocess.run(
        ["git", "apply", "-"],
        cwd=folder,
        input=patch("a.txt", old, new),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "a.txt").read_text() == new
