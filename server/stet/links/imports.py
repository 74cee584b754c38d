"""Imports of source code, for the common languages, each with its own scan.

A scan does not know the build: it finds text with the form and the position of an import of the
language, outside comments. `stet.links.link_resolver` decides whether an import means a file of the
workspace.
"""

import posixpath
import re
from collections.abc import Callable, Iterator

from stet.links.link import Link, LinkKind
from stet.text import masking

_MAX_DEPTH = 16
"""The most nested inline modules; deeper modules are not scanned."""

# String literals are blanked here. `mod` and `use` are never names.
_TOKEN = re.compile(
    r"(?P<open>\{)|(?P<close>\})"
    r"|(?<![\w#])mod\s++(?:(?P<file>\w++)\s*+;|(?P<inline>\w++)\s*+\{)"
    r"|#\[\s*+(?:cfg_attr\b[^\]#]{0,200}?\b)?path\s*+=(?P<path>\s++)[)\]]"
    r"|(?<![\w#])use\s++(?:::)?(?!(?:std|core|alloc)\b)(?P<use>\w++(?:::\w++)*+)"
    r"(?:::(?:(?P<all>\*)|\{(?P<inner>[^;]{0,4000}+);))?"
)
_MEMBER = re.compile(r"(?P<path>\w+(?:::\w+)*)(?:\s+as\s+\w+)?(?P<open>::\{)?|\}")
_TEXT = re.compile(r"\s*+(?:r(?P<marks>#*+))?\"(?P<path>[^\"\\\r\n]++)\"")


def find_rust(text: str) -> Iterator[Link]:
    """Yield `mod a;`, `#[path = "b.rs"] mod a;`, `use crate::a::B`, `use other::{a, b::{c, d}}`."""
    inside: list[str | None] = [""]
    paths: list[Link] = []
    for match in _TOKEN.finditer(masking.mask_rust(text)):
        here = inside[-1]
        if match["path"] is not None:
            paths += _path(text, match.start("path"))
            continue
        if match["file"] is not None and here is not None:
            yield from _declared(match, here, paths)
        elif match["use"] is not None and here is not None:
            yield from _uses(match, here)
        else:
            _enter_or_leave(match, inside)
        paths = []


def _path(text: str, at: int) -> Iterator[Link]:
    """Yield the path in a `#[path = "..."]` attribute."""
    written = _TEXT.match(text, at)
    if written is not None:
        yield Link(LinkKind.RUST_PATH, written["path"], written.start("path"))


def _declared(match: re.Match[str], inside: str, paths: list[Link]) -> Iterator[Link]:
    """Yield a module with its own file, or the file that the attributes before the module name."""
    if not paths:
        yield Link(LinkKind.RUST_MOD, match["file"], match.start("file"), inside=inside)
    elif not inside:  # otherwise the path is relative to another folder
        yield from paths


def _enter_or_leave(match: re.Match[str], inside: list[str | None]) -> None:
    """Push or pop a block of `inside`, which holds the module path of each open block."""
    here, name = inside[-1], match["inline"]
    if match["open"] is not None:
        inside.append(here)
    elif name is not None:
        is_scanned = here is not None and here.count("/") + 2 <= _MAX_DEPTH
        inside.append(posixpath.join(here or "", name) if is_scanned else None)
    elif match["close"] is not None and len(inside) > 1:
        inside.pop()


def _uses(match: re.Match[str], inside: str) -> Iterator[Link]:
    """Yield the path of a `use`, and the members of its group, each with the path before it."""
    path = match["use"]
    if path not in ("crate", "self") or (path == "crate" and match["all"] is not None):
        yield Link(LinkKind.RUST_USE, path, match.start("use"), inside=inside)
    leads = [path]
    for member in _MEMBER.finditer(match["inner"] or ""):
        name = member["path"]
        if name is None:
            leads = leads[:-1] or leads
        elif name != "self":
            start = match.start("inner") + member.start("path")
            yield Link(LinkKind.RUST_USE, name, start, leads[-1], inside=inside)
        if member["open"]:
            leads.append(f"{leads[-1]}::{name}")


_LINE = r"^[ \t]*"
_QUOTED = r"(?P<quote>[\"'])(?P<path>[^\"'\r\n]{1,1000})(?P=quote)"


# A bundler's query or a fragment is not part of the path, but a name may begin with `#`.
_IMPORTED = (
    r"(?P<quote>[\"'])(?P<path>#?[^\"'\r\n?#]{1,1000}+)(?:[?#][^\"'\r\n]{0,1000}+)?(?P=quote)"
)


def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.MULTILINE)


# The patterns begin with letters, which are found ten times as fast as the start of a statement.
_PYTHON_IMPORT = _pattern(r"import[ \t]+(?P<names>[^\r\n;]+)")
_PYTHON_FROM = _pattern(
    r"from(?<![\w.]from)(?:[ \t]++|(?=\.))(?P<module>\.*+(?:[ \t]*+(?!import\b)[\w.]++)?)(?:[ \t]++|(?<=\.))import"
    r"(?:[ \t]*+\((?P<inner>[^()]*)\)|(?:[ \t]++|(?=\*))(?P<names>[^\r\n;(]+))"
)
_PYTHON_CONTINUED = re.compile(r"\\(?:\r\n|\n|\r)")
_PYTHON_MODULE = re.compile(r"(?P<name>[^\W\d][\w.]*)(?P<alias>[ \t]+as[ \t]+\w+)?")
_PYTHON_NAME = re.compile(r"(?<![\w.])(?P<name>[^\W\d]\w*)(?P<alias>\s+as\s+\w+)?")
_JAVASCRIPT = _pattern(
    r"(?:\bfrom[ \t\r\n]*|\bimport[ \t\r\n]*+(?:\([ \t\r\n]*+)?|\brequire(?:\.resolve)?[ \t]*\([ \t\r\n]*)"
    + _IMPORTED
)
_REFERENCE = _pattern(
    _LINE + r"///[ \t]*<reference[ \t][^<>\r\n]{0,200}?\bpath[ \t]*=[ \t]*" + _QUOTED
)
_C = _pattern(
    _LINE + r"#[ \t]*(?:include|import)[ \t]*"
    r"(?:\"(?P<path>[^\"\r\n]+)\"|<(?P<system>[^<>\r\n]++)>)"
)
_GO = _pattern(
    _LINE + r"(?:import[ \t]+)?(?:[\w.]+[ \t]+)?\"(?P<path>[^\"\s][^\"\s/]*+/[^\"\s]++)\""
)
# An unclosed block matches to the end of the text, so that its end is not searched for again.
_GO_BLOCK = _pattern(_LINE + r"import[ \t]*(?:\([^)]*+(?:\)|\Z)|[^\r\n(]*)")
_JVM = _pattern(_LINE + r"import[ \t]+(?:static[ \t]+)?(?P<path>(?:\w++\.)++(?:\w++|\*))")
_RUBY = _pattern(_LINE + r"(?:require_relative|load)[ \t(]+" + _QUOTED)
_PHP = _pattern(r"\b(?:require|include)(?:_once)?[ \t(]+(?:__DIR__[ \t]*\.[ \t]*)?" + _QUOTED)
_PHP_USE = _pattern(_LINE + r"use[ \t]+(?:function[ \t]+|const[ \t]+)?\\?(?P<path>\w+(?:\\\w+)+)")
_CSS = _pattern(
    r"@(?:import|use|forward)[ \t]+(?:url\([ \t]*)?"
    r"(?:[\"'](?P<path>[^\"'\r\n?#]++)(?:[?#][^\"'\r\n]*+)?[\"']|(?P<bare>[^\"'\s();?#]++))"
)
_LATEX_NAME = r"[ \t]*+\{[ \t]*+(?P<path>[^{} \t\r\n]++(?:[ \t]++[^{} \t\r\n]++)*+)[ \t]*+\}"
_LATEX = _pattern(r"\\(?:input|include|subfile|addbibresource|lstinputlisting)" + _LATEX_NAME)
_LATEX_FOLDER = re.compile(r"\{[ \t]*([^{}\r\n]+?)[ \t]*\}")
_LATEX_FOLDERS = re.compile(
    r"\\graphicspath[ \t]*\{(?P<folders>(?:[ \t\r\n]*\{[^{}\r\n]{1,300}\}){1,50})"
)
_LATEX_IMAGE = _pattern(r"\\includegraphics\*?(?:\[[^\[\]\r\n]*+\])?" + _LATEX_NAME)


def find_python(text: str) -> Iterator[Link]:
    """Yield `import a.b, c as d` and `from .a import b, c as d`."""
    masked = _PYTHON_CONTINUED.sub(lambda end: " " * len(end[0]), masking.mask_python(text))
    for found in _statements(_PYTHON_IMPORT, masked):
        yield from _names(LinkKind.PYTHON, _PYTHON_MODULE, found, "names")
    for found in _statements(_PYTHON_FROM, masked):
        module = found["module"]
        yield Link(LinkKind.PYTHON_FROM, module, found.start("module"))
        group = "names" if found["inner"] is None else "inner"
        yield from _names(LinkKind.PYTHON_NAME, _PYTHON_NAME, found, group, module)


def _names(
    kind: LinkKind, pattern: re.Pattern[str], found: re.Match[str], group: str, module: str = ""
) -> Iterator[Link]:
    """Yield the names in a group of an import."""
    for name in pattern.finditer(found[group]):
        start = found.start(group) + name.start("name")
        yield Link(kind, name["name"], start, module, renamed=name["alias"] is not None)


def _statements(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches at the beginning of a statement."""
    return (found for found in pattern.finditer(text) if _begins_statement(text, found.start()))


def _begins_statement(text: str, at: int) -> bool:
    """Return whether only blanks separate `at` from the line's start, a `;` or a `:` before it."""
    before = text[max(0, at - 200) : at].rstrip(" \t")
    return before[-1:] in ("\n", "\r", ";", ":") or (not before and at <= 200)


def find_go(text: str) -> Iterator[Link]:
    """Yield the packages in the import declarations."""
    masked = masking.mask_script(text)
    for block in _GO_BLOCK.finditer(masked):
        for found in _GO.finditer(block[0]):
            yield Link(LinkKind.GO, found["path"], block.start() + found.start("path"))


def _finder(
    mask: Callable[[str], str], pattern: re.Pattern[str], **kinds: LinkKind
) -> Callable[[str], Iterator[Link]]:
    """Return a function that finds links in masked text; `kinds` gives each group's link kind."""

    def find(text: str) -> Iterator[Link]:
        for found in pattern.finditer(mask(text)):
            for group, kind in kinds.items():
                if found[group] is not None:
                    yield Link(kind, found[group], found.start(group))

    return find


find_javascript = _finder(masking.mask_script, _JAVASCRIPT, path=LinkKind.JAVASCRIPT)
find_jvm = _finder(masking.mask_c, _JVM, path=LinkKind.JVM)
find_ruby = _finder(masking.mask_hash, _RUBY, path=LinkKind.RUBY)
find_php_files = _finder(masking.mask_php, _PHP, path=LinkKind.PHP)
find_php_uses = _finder(masking.mask_php, _PHP_USE, path=LinkKind.PHP_USE)
find_css = _finder(masking.mask_css, _CSS, path=LinkKind.CSS, bare=LinkKind.CSS)
find_latex = _finder(masking.mask_latex, _LATEX, path=LinkKind.LATEX)
# `#include <a.h>` may name a file of the workspace too.
find_c = _finder(masking.mask_c, _C, path=LinkKind.C_INCLUDE, system=LinkKind.C_SYSTEM)
# `/// <reference path="a.d.ts" />` is a comment to all but TypeScript.
find_references = _finder(str, _REFERENCE, path=LinkKind.REFERENCE)


def find_latex_images(text: str) -> Iterator[Link]:
    r"""Yield `\includegraphics{a}`, with the folders that a `\graphicspath{{b/}{c/}}` names."""
    masked = masking.mask_latex(text)
    folders_found = _LATEX_FOLDERS.search(masked)
    folders = (
        "" if folders_found is None else "\n".join(_LATEX_FOLDER.findall(folders_found["folders"]))
    )
    for found in _LATEX_IMAGE.finditer(masked):
        yield Link(LinkKind.LATEX_IMAGE, found["path"], found.start("path"), folders)
