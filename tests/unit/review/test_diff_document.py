"""The review page once the user has edited it: what is gone is rejected, what is other is
amended.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from stet.review.diff_document import (
    DiffDecisions,
    DiffDocument,
    document_name,
    parse_decisions,
    render_diff,
)
from stet.review.proposal import Hunk, HunkKind
from tests.support.hunks import URI, hunks_between, make_hunk

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
NEW = TEXT.replace("two\n", "2\n2b\n").replace("five\n", "5\n").replace("eight\n", "")
LINES = st.sampled_from(
    ["a\n", "b\n", "c\n", "d\r\n", "\n", "  \n", "@@ -1 +1 @@ h1\n", "-- x\n", "diff --git\n", "e"]
)
WORDS = st.lists(LINES, max_size=14).map("".join)


def page_of(old: str, new: str) -> DiffDocument:
    """The page for all that leads from one text to another."""
    return render_diff(hunks_between(old, new), {URI: old}, lambda uri: "a.txt")


@pytest.fixture
def page() -> DiffDocument:
    """A page of three hunks: a replacement by two lines, one by one, a deletion."""
    return page_of(TEXT, NEW)


def without(text: str, *ids: str) -> str:
    """A page without some hunks, from `@@` to the next `@@` or file."""
    for each in ids:
        text = re.sub(rf"@@ [^\n]* @@ {each} [^\n]*\n(?:[ +\-\\][^\n]*\n)*", "", text)
    return text


def test_render_diff_of_three_hunks_of_a_file(page: DiffDocument) -> None:
    assert page.text == snapshot("""\
# Stet review e1f55dcd4674: 3 hunks left
# - Delete a hunk, from its `@@` line to the next, to reject it.
# - Edit its `+` lines to change the proposal.
# - Leave all other lines unchanged, then save. Accept hunks in the file itself.
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,4 +1,5 @@ h1 Change 1
 one
-two
+2
+2b
 three
 four
@@ -5,3 +6,3 @@ h2 Change 2
-five
+5
 six
 seven
@@ -8,2 +9 @@ h3 Change 3
-eight
 nine
""")


def test_render_diff_of_files_as_such_and_of_a_missing_last_line_end() -> None:
    hunks = [
        make_hunk(1, HunkKind.MOVE, uri="file:///ws/a", new_uri="file:///ws/b"),
        make_hunk(2, HunkKind.REMOVE, old="x\n", uri="file:///ws/c"),
        make_hunk(3, HunkKind.CREATE, new="x\n", uri="file:///ws/d"),
    ]
    page = render_diff(hunks, dict.fromkeys((h.uri for h in hunks), ""), lambda uri: uri[-1])
    assert page.text == snapshot("""\
# Stet review 3d108baf2d43: 3 hunks left
# - Delete a hunk, from its `@@` line to the next, to reject it.
# - Edit its `+` lines to change the proposal.
# - Leave all other lines unchanged, then save. Accept hunks in the file itself.
diff --git a/a b/b
similarity index 100%
rename from a
rename to b
@@ -0,0 +0,0 @@ h1 Change 1
diff --git a/c b/c
deleted file mode 100644
--- a/c
+++ /dev/null
@@ -1 +0,0 @@ h2 Change 2
-x
diff --git a/d b/d
new file mode 100644
--- /dev/null
+++ b/d
@@ -0,0 +1 @@ h3 Change 3
+x
""")
    assert page_of("a\nb", "a\nc").text == snapshot("""\
# Stet review f54af592785b: 1 hunk left
# - Delete a hunk, from its `@@` line to the next, to reject it.
# - Edit its `+` lines to change the proposal.
# - Leave all other lines unchanged, then save. Accept hunks in the file itself.
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@ h1 Change 1
 a
-b
\\ No newline at end of file
+c
\\ No newline at end of file
""")


def test_unchanged_page_decides_nothing(page: DiffDocument) -> None:
    assert parse_decisions(page, page.text) == DiffDecisions()


def test_a_hunk_that_is_deleted_is_rejected(page: DiffDocument) -> None:
    assert parse_decisions(page, without(page.text, "h2")) == DiffDecisions(rejected=("h2",))
    assert parse_decisions(page, without(page.text, "h1", "h2", "h3")).rejected == (
        "h1",
        "h2",
        "h3",
    )


def test_other_added_lines_amend_the_hunk(page: DiffDocument) -> None:
    edited = page.text.replace("+2\n+2b\n", "+zwei\n+2b\n+2c\n").replace("-eight\n", "-eight\n+8\n")
    assert parse_decisions(page, edited) == DiffDecisions(
        amended=(("h1", "zwei\n2b\n2c\n"), ("h3", "8\n"))
    )


def test_hunk_without_a_difference_is_rejected(page: DiffDocument) -> None:
    assert parse_decisions(page, page.text.replace("+5\n", "+five\n")) == DiffDecisions(
        rejected=("h2",)
    )


def test_a_replacement_without_its_new_lines_deletes(page: DiffDocument) -> None:
    assert parse_decisions(page, page.text.replace("+5\n", "")) == DiffDecisions(
        amended=(("h2", ""),)
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("-two\n", "-zwei\n", "only its `+` lines can be edited"),
        (" one\n", " eins\n", "only its `+` lines can be edited"),
        (" one\n", "", "only its `+` lines can be edited"),
        (
            " one\n",
            "+zero\n one\n",
            "a `+` line is outside the change",
        ),
        ("+2\n", "2\n", "every line must start with ` `, `+` or `-`"),
    ],
)
def test_a_hunk_whose_other_lines_are_changed_is_left_alone(
    page: DiffDocument, old: str, new: str, reason: str
) -> None:
    assert parse_decisions(page, page.text.replace(old, new, 1)) == DiffDecisions(
        refused=(("h1", reason),)
    )


def test_a_hunk_that_is_there_twice_is_left_alone(page: DiffDocument) -> None:
    start = page.text.index("\n@@") + 1
    doubled = page.text + page.text[start : page.text.index("@@ -5")]
    assert [each for each, _ in parse_decisions(page, doubled).refused] == ["h1"]


def test_a_section_without_its_first_line_is_no_deletion(page: DiffDocument) -> None:
    headless = re.sub(r"@@ [^\n]* @@ h2 [^\n]*\n", "", page.text)
    assert [each for each, _ in parse_decisions(page, headless).refused] == ["h1", "h2"]
    headless = re.sub(r"@@ [^\n]* @@ h1 [^\n]*\n", "", page.text)
    assert [each for each, _ in parse_decisions(page, headless).refused] == ["h1"]


def test_hunks_that_the_page_never_had_are_ignored(page: DiffDocument) -> None:
    assert parse_decisions(page, page.text + "@@ -1 +1 @@ h99 What?\n-x\n+y\n") == DiffDecisions()


def test_white_space_that_an_editor_strips_or_line_ends_that_it_turns_mean_nothing() -> None:
    page = page_of("a\n\nb  \n\nc\n", "a\n\nB  \n\nc\n")
    stripped = "\r\n".join(line.rstrip() for line in page.text.split("\n"))
    assert parse_decisions(page, stripped) == DiffDecisions()


def test_lines_that_stay_keep_their_end_and_white_space_and_new_ones_take_the_hunks() -> None:
    page = page_of("a\r\n", "b  \r\nc\r\nd\n")
    edited = page.text.replace("+b  \n", "+b\n").replace("+c\n", "+c2\n+c3\n")
    assert parse_decisions(page, edited) == DiffDecisions(
        amended=(("h1", "b  \r\nc2\r\nc3\r\nd\n"),)
    )


def test_missing_last_line_end_stays_missing_until_a_line_follows() -> None:
    page = page_of("a\nb", "a\nc")
    assert parse_decisions(page, page.text.replace("+c\n", "+d\n")).amended == (("h1", "d"),)
    assert parse_decisions(page, f"{page.text}+d\n").amended == (("h1", "c\nd\n"),)


def test_moves_and_removals_are_rejected_or_left() -> None:
    hunks = [
        make_hunk(1, HunkKind.MOVE, uri="file:///ws/a", new_uri="file:///ws/b"),
        make_hunk(2, HunkKind.REMOVE, old="x\n", uri="file:///ws/c"),
        make_hunk(3, HunkKind.CREATE, new="x\n", uri="file:///ws/d"),
    ]
    page = render_diff(hunks, dict.fromkeys((h.uri for h in hunks), ""), lambda uri: uri[-1])
    assert parse_decisions(page, page.text) == DiffDecisions()
    assert parse_decisions(page, without(page.text, "h1")) == DiffDecisions(rejected=("h1",))
    assert parse_decisions(page, page.text.replace("-x\n", "-x\n+y\n")) == DiffDecisions(
        refused=(("h2", "it can't be edited, only deleted"),)
    )
    assert parse_decisions(page, page.text.replace("+x\n", "+y\n+z\n")) == DiffDecisions(
        amended=(("h3", "y\nz\n"),)
    )
    assert parse_decisions(page, page.text.replace("+x\n", "")) == DiffDecisions(
        amended=(("h3", ""),)
    )


def test_page_is_identified_by_its_first_line(page: DiffDocument) -> None:
    assert document_name(page.text) == page.name
    assert document_name("") is None
    assert document_name("# Stet review\n") is None
    assert document_name(page.text.partition("\n")[2]) is None


@given(WORDS, WORDS, st.data())
def test_deleting_any_hunks_rejects_exactly_those(old: str, new: str, data: st.DataObject) -> None:
    page = page_of(old, new)
    ids = [section.hunk.id for section in page.sections]
    assert parse_decisions(page, page.text) == DiffDecisions()
    gone = data.draw(st.sets(st.sampled_from(ids)) if ids else st.just(set()))
    assert parse_decisions(page, _rebuilt(page, gone)) == DiffDecisions(
        rejected=tuple(each for each in ids if each in gone)
    )


@given(WORDS, WORDS, st.lists(st.text(alphabet="xyz @+-\\#", max_size=4), max_size=4), st.data())
def test_edited_hunk_gets_the_written_lines(
    old: str, new: str, typed: list[str], data: st.DataObject
) -> None:
    page = page_of(old, new)
    if not page.sections:
        return
    section = data.draw(st.sampled_from(page.sections))
    lines = [f"+{line}" for line in typed]
    edited = [
        *(line for line in section.lines if line.startswith("-")),
        *lines,
    ]
    around = _around(section.lines)
    text = page.text.replace(
        "\n".join((_head(page, section.hunk), *section.lines, "")),
        "\n".join((_head(page, section.hunk), *around[0], *edited, *around[1], "")),
        1,
    )
    found = parse_decisions(page, text)
    assert found.refused == ()
    assert len(found.rejected) + len(found.amended) <= 1
    for each, became in found.amended:
        assert each == section.hunk.id
        written = [line.rstrip() for line in re.split(r"\r\n|\n", became)]
        assert written[: len(typed)] == [line.rstrip() for line in typed]


@given(st.text(alphabet="@ -+1,h2\n#dif\\ xS", max_size=300))
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    page = page_of(TEXT, NEW)
    found = parse_decisions(page, text)
    decided = [*found.rejected, *(each for each, _ in (*found.amended, *found.refused))]
    assert sorted(decided) == sorted(set(decided))
    assert set(decided) <= {"h1", "h2", "h3"}


def _head(page: DiffDocument, hunk: Hunk) -> str:
    return next(
        line for line in page.text.split("\n") if re.match(rf"@@ .*? @@ {hunk.id}( |$)", line)
    )


def _rebuilt(page: DiffDocument, gone: set[str]) -> str:
    """The page without some sections, put together from its parts."""
    top = page.text.partition("@@ ")[0]
    kept = [
        "\n".join((_head(page, section.hunk), *section.lines, ""))
        for section in page.sections
        if section.hunk.id not in gone
    ]
    return top + "".join(kept)


def _around(lines: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the context before and after the change."""
    changed = [n for n, line in enumerate(lines) if line.startswith(("+", "-"))]
    return list(lines[: changed[0]]), [
        line for line in lines[changed[-1] + 1 :] if line.startswith(" ")
    ]
