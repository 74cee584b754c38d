"""Our ignore rules beside git's own, over random repositories: the same files are left out."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stet.system.system import System
from stet.workspace.workspace import Workspace

pytestmark = pytest.mark.slow


NAMES = ("a", "b", "build", "x.log", "keep.log", "x.py", "a b", "é.md")
FOLDERS = ("", "a", "b", "a/b", "b/build")
FILES = tuple(
    f"{folder}/{name}".lstrip("/")
    for folder in FOLDERS
    for name in NAMES
    if f"{folder}/{name}".lstrip("/") not in FOLDERS
)
PARTS = st.sampled_from(
    [*NAMES, "*", "**", "*.log", "*.py", "?", "[ab]", "[!a]*", "b*", "*b*", "x.*", "a**b", "\\a"]
)
PATTERN = st.builds(
    lambda negated, first, parts, last: negated + first + "/".join(parts) + last,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(PARTS, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " ", "\\ "]),
)
IGNORE_FILE = st.lists(PATTERN | st.just("# a comment") | st.just(""), max_size=5)
IGNORE_FILES = st.dictionaries(st.sampled_from(FOLDERS), IGNORE_FILE, min_size=1, max_size=3)


def git(root: Path, *arguments: str, given: str = "") -> str:
    """What git prints; with no configuration but its own."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"},
    )
    assert done.returncode in {0, 1}, done.stderr  # 1: nothing is ignored
    return done.stdout


@given(IGNORE_FILES)
@example({"": ["?"]})
@example({"": ["x"]})
@settings(max_examples=60, deadline=None)
def test_the_same_files_are_left_out_as_by_git(ignore_files: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        git(root, "init", "--quiet")
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("text\n")
        for where, lines in ignore_files.items():
            (root / where / ".gitignore").write_text("".join(f"{line}\n" for line in lines))
        ignored_by_git = git(
            root, "check-ignore", "--no-index", "-z", "--stdin", given="\0".join(FILES)
        )
        ignored = set(ignored_by_git.split("\0")) & set(FILES)

        workspace = Workspace(System())
        workspace.add_root(root.as_uri())
        walked = {located.name for located in workspace.snapshot().walk()}

        assert walked & set(FILES) == set(FILES) - ignored
