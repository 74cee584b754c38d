"""A link: a place in a text that names another file."""

from dataclasses import dataclass
from enum import StrEnum


class LinkKind(StrEnum):
    """How a link is written, which decides how it is resolved and how it is written anew."""

    WIKI = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    """The target of a Markdown link, an image or a reference definition, or of HTML: a URL."""
    ANGLE = "markdown-angle"
    """The same between `<` and `>`, where spaces are allowed."""
    PYTHON = "python"
    """The module of an `import`."""
    PYTHON_FROM = "python-from"
    """The module of a `from ... import`."""
    PYTHON_NAME = "python-name"
    """A name behind a `from ... import`, which may be a module."""
    JAVASCRIPT = "javascript"
    REFERENCE = "reference"
    """Another file of TypeScript, in a comment at the beginning."""
    C_INCLUDE = "c-include"
    C_SYSTEM = "c-system"
    """A header between `<` and `>`: where the path begins only the build knows."""
    RUST_MOD = "rust-mod"
    RUST_USE = "rust-use"
    RUST_PATH = "rust-path"
    """The file of a module, in the attribute before its `mod`."""
    GO = "go"
    """A package, which is all Go files of a folder."""
    JVM = "jvm"
    """A class of Java or Kotlin, or with `.*` all of a package."""
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
        kind: How it is written.
        written: The part of the text that names the file, exactly as it stands there.
        start: Where that part begins, in code points of the text.
        context: What else is needed to know what is meant: for `PYTHON_NAME` the module behind
            `from`, for `RUST_USE` the path before a group, for `LATEX_IMAGE` the folders that
            pictures are in, a line each, for a wikilink the quote of the YAML text that holds it, or
            `[` where it is a value of YAML itself; else empty.
        renamed: For Python, whether the code calls it by a name of its own (`import a.b as c`).
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
        """Where the part that names the file ends, in code points of the text."""
        return self.start + len(self.written)
