"""The page that shows what is pending: a unified diff with an id in each section."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.review.diff_document import render_diff
from stet.review.proposal import HunkKind, HunkState
from tests.support.hunks import URI, hunks_between, make_hunk

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
WORDS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n", "\n"]), max_size=12).map("".join)


def page(old: str, new: str) -> str:
    """The page for all that leads from one text to another, without its head."""
    shown = render_diff(hunks_between(old, new), {URI: old}, lambda uri: "a.txt")
    return shown.text.partition("diff --git")[2]


def test_near_hunks_have_sections_of_their_own_that_share_no_line() -> None:
    new = TEXT.replace("two", "2").replace("four", "4").replace("nine\n", "9\nten\n")
    assert page(TEXT, new) == (
        " a/a.txt b/a.txt\n"
        "--- a/a.txt\n"
        "+++ b/a.txt\n"
        "@@ -1,3 +1,3 @@ h1 Change 1\n"
        " one\n"
        "-two\n"
        "+2\n"
        " three\n"
        "@@ -4,4 +4,4 @@ h2 Change 2\n"
        "-four\n"
        "+4\n"
        " five\n"
        " six\n"
        " seven\n"
        "@@ -8,2 +8,3 @@ h3 Change 3\n"
        " eight\n"
        "-nine\n"
        "+9\n"
        "+ten\n"
    )


def test_head_holds_the_number_of_hunks_and_the_instructions() -> None:
    shown = render_diff(hunks_between("a\n", "b\n"), {URI: "a\n"}, lambda uri: "a.txt")
    assert shown.text.startswith(
        f"# Stet review {shown.name}: 1 hunk left\n"
        "# - Delete a hunk, from its `@@` line to the next, to reject it.\n"
    )


def test_files_that_come_move_and_go_are_shown_as_git_shows_them() -> None:
    hunks = [
        make_hunk(1, HunkKind.CREATE, new="x\n", uri="file:///ws/new.md"),
        make_hunk(2, HunkKind.MOVE, uri="file:///ws/old.md", new_uri="file:///ws/b.md"),
        make_hunk(3, HunkKind.REMOVE, old="gone\n", uri="file:///ws/gone.md"),
    ]
    texts = dict.fromkeys((hunk.uri for hunk in hunks), "")
    shown = render_diff(hunks, texts, lambda uri: uri.rpartition("/")[2])
    assert shown.text.partition("diff --git ")[2] == (
        "a/new.md b/new.md\n"
        "new file mode 100644\n"
        "--- /dev/null\n"
        "+++ b/new.md\n"
        "@@ -0,0 +1 @@ h1 Change 1\n"
        "+x\n"
        "diff --git a/old.md b/b.md\n"
        "similarity index 100%\n"
        "rename from old.md\n"
        "rename to b.md\n"
        "@@ -0,0 +0,0 @@ h2 Change 2\n"
        "diff --git a/gone.md b/gone.md\n"
        "deleted file mode 100644\n"
        "--- a/gone.md\n"
        "+++ /dev/null\n"
        "@@ -1 +0,0 @@ h3 Change 3\n"
        "-gone\n"
    )


def test_a_conflict_is_marked_and_summaries_stay_on_their_line() -> None:
    [hunk] = hunks_between("a\n", "b\n")
    [shown] = render_diff(
        [make_hunk(1, HunkKind.REPLACE, old="a\n", new="b\n", range=hunk.range,
                   state=HunkState.CONFLICT, summary="x\n@@ -1 +1 @@ h9\x1b[8m")],
        {URI: "a\n"},
        lambda uri: "a\nb",
    ).sections  # fmt: skip
    assert shown.hunk.id == "h1"
    text = render_diff([shown.hunk], {URI: "a\n"}, lambda uri: "a\nb").text
    assert "@@ -1 +1 @@ h1 (conflict) x @@ -1 +1 @@ h9\\x1b[8m\n" in text
    assert "--- a/a b\n" in text


def test_missing_last_line_end_is_marked() -> None:
    assert page("a\nb", "a\nc").endswith(
        " a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git")
@given(st.lists(st.sampled_from("abcdefgh"), max_size=9), st.lists(st.sampled_from("abcdefgh")))
def test_git_can_apply_the_page(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]
) -> None:
    before, after = ("".join(f"{word}\n" for word in words) for words in (old, new))
    if not before or not after or before == after:
        return  # git has forms of its own for files that come and go
    folder = tmp_path_factory.mktemp("apply")
    (folder / "a.txt").write_text(before)
    shown = render_diff(hunks_between(before, after), {URI: before}, lambda uri: "a.txt")
    _ = _git(folder, "apply", "--unidiff-zero", "-", given=shown.text)
    assert (folder / "a.txt").read_text() == after


@given(WORDS, WORDS)
def test_every_hunk_is_on_the_page_once(old: str, new: str) -> None:
    hunks = hunks_between(old, new)
    shown = render_diff(hunks, {URI: old}, lambda uri: "a.txt")
    assert re.findall(r"^@@ .*? @@ (\S+)", shown.text, re.MULTILINE) == [h.id for h in hunks]
    assert [section.hunk for section in shown.sections] == hunks


def _git(folder: Path, *arguments: str, given: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    return done.stdout
