"""Emacs 30 as Debian has it, without a window system, with its own Eglot."""

from dataclasses import dataclass
from pathlib import Path

from tests.parts.debian import unpacked
from tests.parts.kept import MissingPart

SUITE = "trixie"
LIBRARIES = (
    "libc6",
    "libgcc-s1",
    "libstdc++6",
    "zlib1g",
    "libgccjit0",
    "libgmp10",
    "libisl23",
    "libmpfr6",
    "libmpc3",
    "libzstd1",
    "libacl1",
    "libasound2t64",
    "libattr1",
    "libcap2",
    "libdbus-1-3",
    "libsystemd0",
    "libgnutls30t64",
    "libnettle8t64",
    "libhogweed6t64",
    "libunistring5",
    "libidn2-0",
    "libffi8",
    "libp11-kit0",
    "libtasn1-6",
    "libgpm2",
    "libjansson4",
    "liblcms2-2",
    "libselinux1",
    "libpcre2-8-0",
    "libsqlite3-0",
    "libtinfo6",
    "libtree-sitter0.22",
    "liblzma5",
    "libxml2",
)
"""What its program is linked with; its package depends on more, which it runs without."""


@dataclass(frozen=True, slots=True)
class Emacs:
    """An Emacs that can be run.

    Attributes:
        command: Begins its command line.
        environment: What it needs in its environment.
        version: For example `30.1`.
    """

    command: list[str]
    environment: dict[str, str]
    version: str


def ensure() -> Emacs:
    """Emacs, and where what it was built with lies now.

    Raises:
        MissingPart: It can't be had on this machine.
    """
    packages = ("emacs-nox", "emacs-common", "emacs-bin-common", *LIBRARIES)
    part = unpacked("emacs", SUITE, packages)
    lisp = _only(part.root, "usr/share/emacs/*/lisp")
    dump = _only(part.root, "usr/libexec/emacs/*/*/emacs-*.pdmp")
    # It would look in the folders it was built for, where there is nothing.
    folders = sorted({file.parent for file in lisp.rglob("*.elc")} - {lisp / "obsolete"})
    return Emacs(
        command=[
            *part.command("usr/bin/emacs-nox", argv0=str(part.root / "usr/bin/emacs-nox")),
            f"--dump-file={dump}",
        ],
        environment={
            "EMACSLOADPATH": ":".join(map(str, [lisp, *folders])),
            "EMACSDATA": str(lisp.parent / "etc"),
            "EMACSDOC": str(lisp.parent / "etc"),
            "EMACSPATH": str(dump.parent),
        },
        version=lisp.parent.name,
    )


def _only(root: Path, pattern: str) -> Path:
    """What is there by that pattern.

    Raises:
        MissingPart: Nothing is.
    """
    for found in sorted(root.glob(pattern)):
        return found
    raise MissingPart(f"the unpacked Emacs in {root} has no {pattern!r}")
