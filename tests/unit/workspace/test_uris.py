from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.workspace.uris import canonical, path_of, scheme_of, untitled_name, uri_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///c%3A/a.py", "file:///C:/a.py"),
        ("file:///ws/a%20b.py", "file:///ws/a b.py"),
        ("file:///ws/%C3%A9.md", "file:///ws/é.md"),
        ("FILE:///ws/a.py", "file:///ws/a.py"),
        ("file://localhost/ws/a.py", "file:///ws/a.py"),
        ("file:///ws/x/../a.py", "file:///ws/a.py"),
        ("file:///ws//a.py", "file:///ws/%61.py"),
        ("file:///ws/c%23.cs", "file:///ws/c#.cs"),
        ("untitled:Untitled%201", "untitled:Untitled 1"),
    ],
)
def test_spellings_of_one_document_have_one_key(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///ws/a%2541", "file:///ws/a%41"),
        ("file:///ws/a.py", "file:///ws/A.py"),
        ("file://server/ws/a.py", "file:///ws/a.py"),
        ("untitled:a", "file:///a"),
    ],
)
def test_different_documents_have_different_keys(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@given(st.text(max_size=30))
def test_a_key_is_its_own_key(name: str) -> None:
    for uri in (f"file:///{name}", f"file://{name}/a", f"untitled:{name}", f"git:{name}", name):
        assert canonical(canonical(uri)) == canonical(uri)


@given(st.text(st.sampled_from("a/:%é\ud800\udc00"), max_size=12))
def test_a_key_can_be_written_whatever_halves_of_characters_its_uri_has(name: str) -> None:
    for uri in (f"file:///{name}", f"file://{name}/a", f"untitled:{name}", f"git:{name}", name):
        assert canonical(uri).encode().decode() == canonical(uri)


@given(st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1))
def test_a_path_survives_the_way_to_a_uri_and_back(name: str) -> None:
    path = Path("/ws") / name
    if name not in (".", ".."):
        assert path_of(uri_of(path)) == path


def test_only_files_of_this_machine_have_a_path() -> None:
    assert path_of("file:///ws/a%20b.py") == Path("/ws/a b.py")
    for uri in ("untitled:x", "git:/ws/a.py", "file://server/a", "file:///a%00b", "", "/ws/a.py"):
        assert path_of(uri) is None


def test_schemes_are_lower_case() -> None:
    assert scheme_of("Vscode-Notebook-Cell:/x#1") == "vscode-notebook-cell"
    assert scheme_of("/ws/a:b") == ""
    assert untitled_name("untitled:My%20Note") == "My Note"
