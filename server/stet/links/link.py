"""A link: a part of a text that names another file."""

from dataclasses import dataclass
from enum import StrEnum


class LinkKind(StrEnum):
    """The syntax of a link, which decides how the link is resolved and rewritten."""

    WIKI = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    """The URL of a Markdown link, an image, a reference definition or an HTML attribute."""
    ANGLE = "markdown-angle"
    """A target between `<` and `>`, where spaces are allowed."""
    PYTHON = "python"
    """The module of an `import`."""
    PYTHON_FROM = "python-from"
    """The module of a `from ... import`."""
    PYTHON_NAME = "python-name"
    """A name after `from ... import`, which may be a module."""
    JAVASCRIPT = "javascript"
    REFERENCE = "reference"
    """The file in a TypeScript comment `/// <reference path="..." />`."""
    C_INCLUDE = "c-include"
    C_SYSTEM = "c-system"
    """A header between `<` and `>`; only the build knows the folder to which it is relative."""
    RUST_MOD = "rust-mod"
    RUST_USE = "rust-use"
    RUST_PATH = "rust-path"
    """The file of a module, in the attribute before its `mod`."""
    GO = "go"
    """A package, which is all Go files of a folder."""
    JVM = "jvm"
    """A class of Java or Kotlin, or with `.*` all classes of a package."""
    RUBY = "ruby"
    PHP = "php"
    PHP_USE = "php-use"
    CSS = "css"
    LATEX = "latex"
    LATEX_IMAGE = "latex-image"


@dataclass(frozen=True, slots=True)
class Link:
    """One link.

    Attributes:
        kind: The syntax of the link.
        written: The part of the text that names the file, exactly as written.
        start: The start of that part, in code points of the text.
        context: Other text that is needed to resolve the link: for `PYTHON_NAME` the module after
            `from`, for `RUST_USE` the path before a group, for `LATEX_IMAGE` the folders of
            pictures, a line each, for a wikilink the quote of the YAML string around it, or `[` if
            the wikilink is itself a value of YAML; else empty.
        renamed: For Python, whether the code renames the module (`import a.b as c`).
        inside: For Rust, the inline modules around it, `a/b` for `mod a { mod b { ... } }`.
    """

    kind: LinkKind
    written: str
    start: int
    context: str = ""
    renamed: bool = False
    inside: str = ""

    @property
    def end(self) -> int:
        """The end of `written`, in code points of the text."""
        return self.start + len(self.written)


MAX_DEPTH = 3
"""The most steps between a file and its neighbours in the graph."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link with its source file and its target files.

    Attributes:
        source: URI of the file with the link.
        link: The link as written.
        targets: URIs of the target files: one, several for a package, none for a dead link.
    """

    source: str
    link: Link
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """The target of a link.

    Attributes:
        targets: The target files: one file, except for packages.
        base: The folder to which the link is relative; None: the file's own folder, or a link by
            name.
        lead: The text of the link before the path from `base`: the alias of a folder.
    """

    targets: tuple[str, ...]
    base: str | None = None
    lead: str = ""
