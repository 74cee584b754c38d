"""Edits of a real source, bent as models and typing users bend them, end right or are refused."""

import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.bench.edits import ELSEWHERE, LEAST_RIGHT, MOST_WRONG, NEW_MARK, folder_of, table, tally
from tests.bench.edits_apply import EditResult
from tests.bench.edits_sources import Change, from_history, from_sources

REFUSED = ("ours", EditResult.REFUSED)


@pytest.mark.slow
def test_made_up_edits_of_an_installed_package_end_right_or_refused() -> None:
    result = tally(from_sources(folder_of("rich"), random.Random(7), 40), 7)
    shown = f"{table(result)}\n{result.bad[:3]}"
    assert result.share("ours", EditResult.WRONG) <= MOST_WRONG, shown
    assert result.share("ours", EditResult.RIGHT) >= LEAST_RIGHT, shown
    assert result.elsewhere == 1, shown
    assert result.share("exact", EditResult.RIGHT) < 0.5, shown
    assert sum(result.ended.values()) > 1_000


def test_an_edit_that_writes_the_mark_of_a_secret_is_refused_and_counted_so() -> None:
    before = "".join(f"line {n}\n" for n in range(40))
    change = Change("x", before, 20, ("line 20",), ("key = [redacted: AWS key #1]",))
    result = tally([change], 1)
    refused = [kind for way, kind, verdict in result.ended if (way, verdict) == REFUSED]
    assert ELSEWHERE in refused
    assert result.barred == Counter(refused)
    assert {why for _, kind, _, why, _ in result.bad if kind in refused} == {NEW_MARK}
    (other,) = {kind for way, kind, _ in result.ended if way == "ours"} - set(refused)
    assert other == "typing in what changes", "the user's own word comes first"


def test_edit_of_a_line_with_the_text_of_a_mark_loses_nothing() -> None:
    lines = [f"line {n}" for n in range(40)]
    lines[20] = "assert told == '[redacted: AWS key #1]'"
    new = (lines[20].replace("told", "shown"), "and more")
    result = tally([Change("x", "\n".join(lines) + "\n", 20, (lines[20],), new)], 1)
    assert result.share("ours", EditResult.RIGHT) == 1, result.bad
    assert result.elsewhere == 1


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
