"""How the private apt of `tests.parts.debian` finds the machine's archive in apt's sources."""

from pathlib import Path

from tests.parts.debian import Archive, archives

ONE_LINE = """# deb http://commented.example/debian bookworm main
deb [signed-by=/k.gpg arch=amd64] http://one.example/debian bookworm main contrib
deb-src http://one.example/debian bookworm main
deb http://one.example/debian bookworm-updates main
deb http://other.example/tools bookworm stable
deb cdrom:[Debian]/ bookworm main
"""
DEB822 = """# A comment.
Types: deb deb-src
URIs: http://two.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
URIs: http://two.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
"""


def test_only_the_archive_of_the_own_suite_is_turned_to_another(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    line = "deb [signed-by=/k.gpg arch=amd64] http://one.example/debian trixie main"
    stanza = (
        "types: deb\nuris: http://two.example/debian\nsuites: trixie\ncomponents: main\n"
        "signed-by:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc"
    )
    assert list(archives(tmp_path, "bookworm", "trixie")) == [
        Archive(line, "list"),
        Archive(stanza, "sources"),
    ]


def test_a_machine_without_apts_sources_has_no_archive(tmp_path: Path) -> None:
    assert list(archives(tmp_path, "bookworm", "trixie")) == []
