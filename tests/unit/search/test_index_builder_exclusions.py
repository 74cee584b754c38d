"""Files that are kept from models, odd, slow or gone are left out or survived."""

from pathlib import Path

import pytest

from stet.system.no_follow import open_to_list
from stet.system.system import System
from tests.support.index_library import IndexLibrary

pytestmark = pytest.mark.slow


def test_hidden_files_are_never_read(tmp_path: Path) -> None:
    library = IndexLibrary(tmp_path / "ws", excluded=["private"], deny=["*.log"])
    secret = "the canary sings\n"
    for name in (".env", "private/a.md", "run.log", "build/out.txt", "id_rsa", ".git/config"):
        library.write(name, secret)
    library.write(".gitignore", "build/\n")
    (tmp_path / "outside.md").write_text(secret)
    (library.root / "link.md").symlink_to(tmp_path / "outside.md")
    library.write("open.md", "nothing here\n")
    library.scan()
    library.change(".env", "private/a.md", "run.log", "build/out.txt", "id_rsa", "link.md")
    assert library.find("canary") == []
    assert library.find("nothing") == ["open.md"]
    library.close()


def test_another_ignore_file_changes_what_is_known(library: IndexLibrary) -> None:
    library.write(".gitignore", "src/\n")
    library.change(".gitignore")
    assert library.find("moor") == []
    (library.root / ".gitignore").unlink()
    library.change(".gitignore")
    assert library.find("moor") == ["src/harbour.py"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("zeros.py", b"def moor():\0\0\0"),
        ("bad.py", b"def moor(): # caf\xe9 \xff\xfe\n"),
        ("long.js", b"function moor(){" + b"a=1;" * 240_000 + b"}"),
        ("empty.py", b""),
        ("blank.md", b"\n\n \n"),
        ("deep.py", b"(" * 5_000 + b"\n" + b"if moor:\n" * 500),
        ("cr.md", b"# One\r\rmoor\r# Two\r"),
    ],
)
def test_odd_files_are_indexed_or_left_out_but_hold_nothing_up(
    library: IndexLibrary, name: str, data: bytes
) -> None:
    library.write(f"odd/{name}", data)
    library.change(f"odd/{name}")
    assert "src/harbour.py" in library.find("moor")
    (library.root / "odd" / name).unlink()
    library.change(f"odd/{name}")
    assert library.find("moor") == ["src/harbour.py"]


def test_a_loop_of_links_and_a_folder_that_cannot_be_read_are_passed_over(
    library: IndexLibrary,
) -> None:
    (library.root / "loop").symlink_to(library.root)
    closed = library.root / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        library.scan()
    finally:
        closed.chmod(0o700)
    assert library.find("moor") == ["src/harbour.py"]


CODE = {
    "a.c": "/* Adds. */\nstatic int\nadd (int  a,\n     int  b)\n{\n  return a;\n}\n",
    "a.go": "package m\n\nfunc Moor() {\n}\n\nfunc Land() {\n}\n",
    "a.js": "const shut = {\n  open: (a) => a,\n}\n",
    "a.rs": "struct A;\n\nimpl A {\n  fn go(&self) {\n  }\n}\n",
    "a.py": "class A:\n    def go(self):\n        pass\n",
    "a.md": "# One\n\ntext\n",
}


def test_files_made_to_be_slow_for_a_grammar_hold_nothing_up(library: IndexLibrary) -> None:
    slow = "{[" * 100_000
    for bird in ("gull", "tern"):
        library.write(f"odd/{bird}.js", f"function {bird}() {{\n}}\n{slow}\n")
    library.write("odd/z.c", CODE["a.c"])
    library.builder.scan()
    steps = 0
    while library.builder.step():
        steps += 1
        assert library.find("moor") == ["src/harbour.py"]  # a question between two of them
    assert steps >= 3
    assert library.find("gull") == ["odd/gull.js"]
    assert library.find("tern") == ["odd/tern.js"]
    assert library.find("add") == ["odd/z.c"]
    library.scan()
    assert library.read == []


@pytest.mark.parametrize("how", ["saved", "typed"])
def test_file_with_a_line_of_five_megabytes_is_removed_from_the_index(
    library: IndexLibrary, how: str
) -> None:
    data = "function moor(){" + "a=1;" * 1_250_000 + "}"
    if how == "saved":
        library.write("src/harbour.py", data)
        library.change("src/harbour.py")
    else:
        library.builder.set_open_text(library.uri("src/harbour.py"), "src/harbour.py", data)
    assert library.find("moor") == []
    assert library.find("boats") == ["readme.txt"]


def test_a_file_that_goes_while_it_is_read_is_left_out(
    library: IndexLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = System.read_real

    def gone(self: System, path: Path, limit: int) -> bytes:
        path.unlink()
        return read(self, path, limit)

    library.write("src/harbour.py", "def moor_again(): pass\n")
    with monkeypatch.context() as vanishing:
        vanishing.setattr(System, "read_real", gone)
        library.change("src/harbour.py")
    assert library.find("moor") == []
    library.write("src/harbour.py", "def moor_again(): pass\n")
    library.change("src/harbour.py")
    assert library.find("moor") == ["src/harbour.py"]


@pytest.mark.parametrize("fault", [PermissionError, OSError])
def test_a_folder_that_cannot_be_listed_hides_only_what_lies_in_it(
    library: IndexLibrary, monkeypatch: pytest.MonkeyPatch, fault: type[OSError]
) -> None:
    """Whoever runs the tests: for root no folder is closed."""

    def closed(path: Path) -> int:
        if str(path).endswith("/notes"):
            raise fault(5, "no")
        return open_to_list(path)

    monkeypatch.setattr("stet.system.system.open_to_list", closed)
    library.scan()
    assert library.find("moon") == []
    assert library.find("moor") == ["src/harbour.py"]


def test_files_that_are_links_to_each_other_are_passed_over(library: IndexLibrary) -> None:
    (library.root / "one.py").symlink_to(library.root / "two.py")
    (library.root / "two.py").symlink_to(library.root / "one.py")
    (library.root / "self.py").symlink_to(library.root / "self.py")
    library.scan()
    library.change("one.py", "two.py", "self.py")
    assert library.find("moor") == ["src/harbour.py"]
