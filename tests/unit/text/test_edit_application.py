"""Edits of a real source, bent as models and typing users bend them, end right or are refused."""

import random
import subprocess
from pathlib import Path

from tests.bench.edits import ELSEWHERE, LEAST_RIGHT, MOST_WRONG, folder_of, table, tally
from tests.bench.edits_apply import Verdict
from tests.bench.edits_sources import Change, from_history, from_sources


def test_made_up_edits_of_an_installed_package_end_right_or_refused() -> None:
    result = tally(from_sources(folder_of("rich"), random.Random(7), 40), 7)
    shown = f"{table(result)}\n{result.bad[:3]}"
    assert result.share("ours", Verdict.WRONG) <= MOST_WRONG, shown
    assert result.share("ours", Verdict.RIGHT) >= LEAST_RIGHT, shown
    assert result.share("ours", Verdict.RIGHT, ELSEWHERE) == 1, shown
    assert result.share("exact", Verdict.RIGHT) < 0.5, shown
    assert sum(result.ended.values()) > 1_000


def test_the_hunks_of_a_history_are_found_line_for_line(tmp_path: Path) -> None:
    texts = ("a\nb\nc\nd\n", "a\nB\nc\nd\nnew\n", "B\nc\nd\nnew\n")
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "init", "-q"], check=True)
    for text in texts:
        (tmp_path / "x.txt").write_bytes(text.encode())
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "--no-gpg-sign", "-m", "x"], check=True)
    changes = list(from_history(tmp_path, random.Random(1), 9))
    origins = {change.origin.partition("@")[0] for change in changes}
    assert origins == {f"{tmp_path.name}:x.txt"}
    assert {(c.before, c.first, c.old, c.new) for c in changes} == {
        (texts[0], 1, ("b",), ("B",)),
        (texts[0], 4, (), ("new",)),
        (texts[1], 0, ("a",), ()),
    }
    assert len(list(from_history(tmp_path, random.Random(1), 2))) == 2
    assert all(isinstance(change, Change) for change in changes)
