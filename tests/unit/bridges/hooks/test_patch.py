"""Patches as pictures: which files they name, and the same patch with other paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.bridges.hooks.patch import PatchAction, PatchedFile, PatchInvalid, parse_patch

PATCH = """\
*** Begin Patch
*** Update File: a.txt
*** Move to: b/a.txt
@@ def f
 one
-two
+*** Delete File: not a header
@@

+end
*** End of File
*** Add File: new.txt
+*** Update File: not a header
+
*** Delete File: gone.txt
*** End Patch
"""


def test_parse_patch_finds_the_files_and_no_header_in_their_text() -> None:
    assert parse_patch(PATCH).files == (
        PatchedFile(PatchAction.UPDATE, "a.txt", "b/a.txt", (("one", "two"),)),
        PatchedFile(PatchAction.ADD, "new.txt"),
        PatchedFile(PatchAction.DELETE, "gone.txt"),
    )


def test_with_paths_changes_the_headers_only() -> None:
    paths = {"a.txt": "/s/a.txt", "b/a.txt": "/s/b/a.txt", "new.txt": "/s/new.txt"}
    expected = (
        PATCH.replace("Update File: a.txt", "Update File: /s/a.txt")
        .replace("to: b/a.txt", "to: /s/b/a.txt")
        .replace("Add File: new.txt", "Add File: /s/new.txt")
    )
    assert parse_patch(PATCH).with_paths(paths) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one\n",
        "*** Begin Patch\n",
        "*** Begin Patch\n*** Update File: a.txt\n-one\n",
        "*** Begin Patch\none\n*** End Patch",
        "*** Begin Patch\n*** Delete File: a.txt\none\n*** End Patch",
        "*** Begin Patch\n*** Update File: \n*** End Patch",
        "*** Begin Patch\n*** Rename File: a.txt\n*** End Patch",
        "*** Begin Patch\n*** Update File: a.txt\n*** Another: b\n*** End Patch",
        "*** Begin Patch\n" + 201 * "*** Delete File: a.txt\n" + "*** End Patch",
    ],
)
def test_parse_patch_refuses(text: str) -> None:
    with pytest.raises(PatchInvalid):
        parse_patch(text)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("one\ntwo\n", True),
        ("zero\none  \ntwo\nthree\n", True),
        ("one\n\ntwo\n", False),
        ("two\n", False),
        ("", False),
    ],
)
def test_fits_looks_for_the_lines_of_each_chunk(text: str, fits: bool) -> None:
    assert parse_patch(PATCH).files[0].fits(text) is fits


_LINE = st.text(st.characters(blacklist_characters="\n\r"), max_size=8)
_PATH = st.text(st.characters(whitelist_categories=("L", "N")), min_size=1, max_size=5)
_ADDED = st.tuples(_PATH, st.lists(_LINE, max_size=4)).map(
    lambda one: "\n".join([f"*** Add File: {one[0]}", *(f"+{line}" for line in one[1])])
)
_UPDATED = st.tuples(_PATH, st.lists(st.tuples(st.sampled_from("-+ "), _LINE), max_size=4)).map(
    lambda one: "\n".join([f"*** Update File: {one[0]}", "@@", *(a + b for a, b in one[1])])
)


@given(st.lists(_ADDED | _UPDATED, min_size=1, max_size=5))
def test_with_paths_and_back_is_the_same_patch(files: list[str]) -> None:
    text = "\n".join(["*** Begin Patch", *files, "*** End Patch"])
    patch = parse_patch(text)
    assert [file.path for file in patch.files] == [
        one.partition("\n")[0].partition(" File: ")[2] for one in files
    ]
    there = {file.path: f"/shadow/{file.path}" for file in patch.files}
    back = {moved: path for path, moved in there.items()}
    moved = patch.with_paths(there)
    assert parse_patch(moved).with_paths(back) == text
    assert {file.path for file in parse_patch(moved).files} == set(back)
    assert parse_patch(moved).files[0].quoted == patch.files[0].quoted
