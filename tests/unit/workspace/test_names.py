"""Whether a path is below another agrees with `pathlib`."""

from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.workspace.names import parts_below

NAMES = st.lists(st.sampled_from(["a", "A", "b", "ß", "SS"]), max_size=4)


def pathlib_parts(path: PurePath, base: PurePath) -> tuple[str, ...] | None:
    return path.relative_to(base).parts if base in (path, *path.parents) else None


@given(NAMES, NAMES)
def test_is_below_agrees_with_pathlib(path: list[str], base: list[str]) -> None:
    for kind, top in ((PurePosixPath, "/"), (PureWindowsPath, "C:\\"), (PurePosixPath, "")):
        one, other = kind(top, *path), kind(top, *base)
        assert parts_below(one, other) == pathlib_parts(one, other)


@pytest.mark.parametrize(
    ("path", "base", "below"),
    [
        (PurePosixPath("/ws/a/b"), PurePosixPath("/ws"), ("a", "b")),
        (PurePosixPath("/ws"), PurePosixPath("/ws"), ()),
        (PurePosixPath("/wsx/a"), PurePosixPath("/ws"), None),
        (PurePosixPath("/ws"), PurePosixPath("/ws/a"), None),
        (PurePosixPath("/WS/a"), PurePosixPath("/ws"), None),
        (PureWindowsPath("C:/WS/a"), PureWindowsPath("c:/ws"), ("a",)),
        (PureWindowsPath("D:/ws/a"), PureWindowsPath("C:/ws"), None),
    ],
)
def test_a_path_below_another(
    path: PurePath, base: PurePath, below: tuple[str, ...] | None
) -> None:
    assert parts_below(path, base) == below
