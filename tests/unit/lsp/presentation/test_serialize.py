"""Hunks in words: what diagnostics, hovers and buttons say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from stet.lsp.presentation.serialize import (
    MAX_DIFF_LINES,
    MAX_LABEL,
    describe,
    hover_text,
    label,
    plain_markdown,
)
from stet.review.proposal import HunkKind, HunkState
from tests.support.hunks import make_hunk


def test_a_long_hunk_shows_something_of_both_sides() -> None:
    old, new = ("".join(f"{side} {n}\n" for n in range(50)) for side in ("old", "new"))
    assert describe(make_hunk(1, HunkKind.REPLACE, old=old, new=new)) == snapshot("""\
Change 1
-old 0
-old 1
-old 2
-old 3
-old 4
-old 5
… 44 more lines
+new 0
+new 1
+new 2
+new 3
+new 4
+new 5
… 44 more lines\
""")
    short = describe(make_hunk(1, HunkKind.REPLACE, old="x\n", new=new)).splitlines()
    assert short[1:3] == ["-x", "+new 0"]
    assert len(short) == 1 + MAX_DIFF_LINES + 1


def test_a_long_line_is_cut_to_its_changed_sentences() -> None:
    still = "This sentence stays as it is, and it is long enough. " * 3
    old = f"{still}The wind was tremendous. {still}Nobody slept.\n"
    new = old.replace("tremendous", "strong").replace("Nobody", "Nobody there")
    assert describe(make_hunk(1, HunkKind.REPLACE, old=old, new=new)) == snapshot("""\
Change 1
-… The wind was tremendous. … Nobody slept.
+… The wind was strong. … Nobody there slept.\
""")
    huge = still * 20
    whole = describe(make_hunk(1, HunkKind.REPLACE, old=huge, new=f"{huge}The end."))
    assert f"-{huge}" in whole.splitlines()


def test_a_move_names_only_what_differs() -> None:
    hunk = make_hunk(
        1, HunkKind.MOVE, uri="file:///ws/a/my%20page.md", new_uri="file:///ws/b/page.md"
    )
    assert describe(hunk) == snapshot("""\
Change 1
rename from a/my page.md
rename to b/page.md\
""")


def test_reason_of_a_pending_hunk_is_shown() -> None:
    hunk = make_hunk(1, HunkKind.ADD, new="x\n", reason="The editor refused.")
    assert describe(hunk) == snapshot("""\
Change 1
(The editor refused.)
+x\
""")


def test_a_conflict_in_plain_text_shows_three_sides() -> None:
    hunk = make_hunk(
        1,
        HunkKind.REPLACE,
        old="mine\n",
        new="theirs\n",
        base="base\n",
        state=HunkState.CONFLICT,
        reason="you have changed it",
    )
    assert hover_text(hunk, markdown=False) == snapshot("""\
Change 1
Conflict: you have changed it.
Keep yours, take the proposal, keep both, or retry.
Original:
base
Yours:
mine
Proposed:
theirs\
""")
    assert hover_text(hunk, markdown=True) == snapshot("""\
**h1** Change 1

Conflict: you have changed it.

Keep yours, take the proposal, keep both, or retry.

Original:

```
base
```

Yours:

```
mine
```

Proposed:

```
theirs
```\
""")


def test_a_label_is_short_and_never_empty() -> None:
    assert label(make_hunk(1, HunkKind.ADD, new="x", summary=" ")) == "A proposal"
    assert label(make_hunk(1, HunkKind.ADD, new="x", summary="")) == "A proposal"
    assert len(label(make_hunk(1, HunkKind.ADD, new="x", summary="word " * 40))) == MAX_LABEL


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Use `x`", "Use \\`x\\`"),
        ("[a](http://b.test)", "\\[a\\](http:\\/\\/b.test)"),
        ("WWW.b.test, a@b.test", "WWW\\.b.test, a\\@b.test"),
        ("<b>&amp;\n# x", "\\<b\\>\\&amp; \\# x"),
        ("plain f-strings, 100%", "plain f-strings, 100%"),
    ],
)
def test_text_of_a_hunk_is_escaped_in_markdown(text: str, shown: str) -> None:
    assert plain_markdown(text) == shown


@given(st.text(alphabet="`~ab\n[]()!<>\x1b\u202e", max_size=80), st.text(max_size=40))
def test_no_text_of_a_hunk_leaves_its_block(new: str, summary: str) -> None:
    hunk = make_hunk(1, HunkKind.REPLACE, old="x\n", new=new, summary=summary)
    shown = hover_text(hunk, markdown=True)
    fences = [line for line in shown.split("\n") if line.strip("`") in ("", "diff") and "`" in line]
    opening = next(line for line in fences if line.endswith("diff"))
    fence = opening.removesuffix("diff")
    body = shown[shown.index(opening) + len(opening) + 1 :]
    assert body.split("\n").count(fence) == 1
    assert body.endswith(f"\n{fence}")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
