"""Patches as the real Codex applies them: a redirected patch changes copies only, and the same way."""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stet.bridges.hooks.patch import PatchInvalid, parse_patch
from tests.conftest import Part
from tests.parts.codex import codex

pytestmark = pytest.mark.slow

FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "red\ngreen\n", "c d.txt": "x\n"}
CHANGES = {
    "a.txt": ["@@ one", "-two", "+2"],
    "./a.txt": ["@@", " one", "+1.5"],
    "b.txt": [" red", "-green", "+GREEN", "*** End of File"],
    "c d.txt": ["@@", "-x", "+*** Delete File: a.txt", "+ *** End Patch"],
}
_SPACES = st.sampled_from([""] * 40 + [" ", "\t", "\r", "\f", "\x1c", "\x85", "\xa0", "\u2028"])
_NAMES = st.sampled_from([*CHANGES, "new.txt", "sub/new.txt"])
_ODD_LINES = st.sampled_from(
    [
        "", " ", "@@", "+y", "two", "***", "*** End of File", "*** End Patch", "*** Frob File: a.txt",
        " *** Delete File: b.txt", "*** Move to: new.txt", "*** Add File:a.txt", "+l\u2028m", "+a\rb",
    ]
)  # fmt: skip


@st.composite
def headers(draw: st.DrawFn, kind: str) -> tuple[str, str]:
    """Return the line of a header, with odd spaces now and then, and the name in it."""
    name = draw(_NAMES)
    spaces = [draw(_SPACES) for _ in range(3)]
    return f"{spaces[0]}*** {kind}: {spaces[1]}{name}{spaces[2]}", name


@st.composite
def patched_files(draw: st.DrawFn) -> list[str]:
    """Return the lines of a file in a patch."""
    kind = draw(st.sampled_from(["Add File", "Delete File", "Update File", "Update File"]))
    header, name = draw(headers(kind))
    lines = [header]
    if kind == "Add File":
        lines += draw(st.sampled_from([["+new"], ["+*** Delete File: a.txt", "+"], []]))
    if kind == "Update File":
        if draw(st.integers(0, 3)) == 0:
            lines.append(draw(headers("Move to"))[0])
        lines += CHANGES.get(name, ["@@", "+z"])
    if draw(st.integers(0, 5)) == 0:
        lines.insert(draw(st.integers(1, len(lines))), draw(_ODD_LINES))
    return lines


@st.composite
def patches(draw: st.DrawFn) -> str:
    """Return the text of a patch; many can't be applied."""
    files = draw(st.lists(patched_files(), min_size=1, max_size=3))
    begin = f"{draw(_SPACES)}*** Begin Patch{draw(_SPACES)}"
    lines = [begin, *(line for file in files for line in file), f"{draw(_SPACES)}*** End Patch"]
    return draw(st.sampled_from(["\n"] * 8 + ["\r\n"])).join(lines) + "\n"


def put(folder: Path) -> Path:
    """Write the files into a new folder."""
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def texts(folder: Path) -> Mapping[str, str]:
    """Return the text of each file, by its path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def is_applied(program: Path, folder: Path, patch: str) -> bool:
    """Apply a patch as Codex does in a folder; return whether that succeeds."""
    command = [str(program), "--codex-run-as-apply-patch", patch]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


@given(text=patches())
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_codex_applies_a_redirected_patch_to_the_copies_only(text: str, part: Part) -> None:
    program = part(codex)
    with tempfile.TemporaryDirectory() as folder:
        before, work, copies = (put(Path(folder, name)) for name in ("before", "work", "copies"))
        try:
            patch = parse_patch(text)
        except PatchInvalid:
            return  # such a patch is denied
        expected = is_applied(program, before, text)
        named = (one for file in patch.files for one in (file.path, file.new_path) if one)
        redirected = patch.with_paths({name: f"{copies}/{name}" for name in named})
        assert is_applied(program, work, redirected) == expected
        assert texts(work) == FILES
        assert texts(copies) == texts(before)


def test_codex_applies_each_change_of_these_patches(part: Part) -> None:
    """The patches above are those that Codex reads, so that the test above is no empty one."""
    program = part(codex)
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, lines) in enumerate(CHANGES.items()):
            place = put(Path(folder, str(number)))
            patch = ["*** Begin Patch", f"*** Update File: {name}", *lines, "*** End Patch"]
            assert is_applied(program, place, "\n".join(patch))
            assert texts(place) != FILES
