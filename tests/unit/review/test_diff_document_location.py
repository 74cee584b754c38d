"""Which line of a file a line of the review page shows."""

from hypothesis import given
from hypothesis import strategies as st

from stet.review.diff_document import DiffLocation, locate_line, render_diff
from stet.text.lines import split_lines, whole_lines
from tests.support.hunks import URI, hunks_between

TEXTS = st.lists(st.sampled_from("abcde"), max_size=12).map(lambda lines: "\n".join([*lines, ""]))


@given(TEXTS, TEXTS)
def test_context_and_removed_lines_lead_to_the_lines_that_they_are(old: str, new: str) -> None:
    hunks = {hunk.id: hunk for hunk in hunks_between(old, new)}
    page = render_diff(list(hunks.values()), {URI: old}, lambda uri: "a.txt")
    lines, shown = whole_lines(old), split_lines(page.text)
    head = next((n for n, line in enumerate(shown) if line.startswith("@@")), len(shown))
    for number in range(head, len(shown) - 1):
        spot = locate_line(page, page.text, number)
        assert spot is not None
        line = spot.line_in(hunks[spot.hunk])
        assert line <= max(len(lines) - 1, 0)
        if shown[number].startswith((" ", "-")):
            assert lines[line] == shown[number][1:]


def test_lines_outside_of_known_hunks_have_no_location() -> None:
    old, new = "a\nb\nc\n", "a\nB\nc\n"
    page = render_diff(hunks_between(old, new), {URI: old}, lambda uri: "a.txt")
    shown = split_lines(page.text)
    heading = shown.index("diff --git a/a.txt b/a.txt\n")
    assert locate_line(page, page.text, heading - 1) is None
    assert locate_line(page, page.text, heading) == DiffLocation("h1")
    assert locate_line(page, page.text, 999) == DiffLocation("h1", n_below=1)
    other = page.text.replace("@@ h1", "@@ h7")
    assert locate_line(page, other, heading) is None
    assert locate_line(page, other, heading + 5) is None
    gone = "".join(shown[: heading + 1]) + "diff --git a/b.txt b/b.txt\n"
    assert locate_line(page, gone, heading) is None
    assert locate_line(page, gone, heading + 1) is None
