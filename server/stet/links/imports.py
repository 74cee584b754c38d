"""Imports of source code, for the common languages, each with its own scan.

A scan knows no build: it finds text in the form and at the place of an import of the language,
outside comments. Whether an import means a file of the workspace is decided in
`stet.links.link_resolver`.
"""

import re
from collections.abc import Callable, Iterator

from stet.links.link import Link, LinkKind
from stet.text import masking
from stet.text.masking import mask_rust

_MAX_DEPTH = 16
"""The most nested inline modules; deeper modules are not scanned."""

# Texts are blank here. `mod` and `use` are never names.
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
    """`mod a;`, `#[path = "b.rs"] mod a;`, `use crate::a::B`, `use other::{a, b::{c, d}}`."""
    inside: list[str | None] = [""]
    paths: list[Link] = []
    for match in _TOKEN.finditer(mask_rust(text)):
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
    """Yield the text of an attribute."""
    written = _TEXT.match(text, at)
    if written is not None:
        yield Link(LinkKind.RUST_PATH, written["path"], written.start("path"))


def _declared(match: re.Match[str], inside: str, paths: list[Link]) -> Iterator[Link]:
    """Yield a module in its own file. The attributes before the module may have named the file."""
    if not paths:
        yield Link(LinkKind.RUST_MOD, match["file"], match.start("file"), inside=inside)
    elif not inside:  # otherwise the path is relative to another folder
        yield from paths


def _enter_or_leave(match: re.Match[str], inside: list[str | None]) -> None:
    """Go into a block or out of one; `inside` holds the modules of each."""
    if match["open"] is not None:
        inside.append(inside[-1])
    elif match["inline"] is not None:
        inside.append(_deeper(inside[-1], match["inline"]))
    elif match["close"] is not None and len(inside) > 1:
        inside.pop()


def _deeper(inside: str | None, name: str) -> str | None:
    if inside is None or inside.count("/") + 2 > _MAX_DEPTH:
        return None
    return f"{inside}/{name}" if inside else name


def _uses(match: re.Match[str], inside: str) -> Iterator[Link]:
    """Yield the path of a `use`, and the members of its group, each with the path before."""
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


# A bundler's query or a fragment is no part of the path, but a name may begin with `#`.
_IMPORTED = (
    r"(?P<quote>[\"'])(?P<path>#?[^\"'\r\n?#]{1,1000}+)(?:[?#][^\"'\r\n]{0,1000}+)?(?P=quote)"
)


def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.MULTILINE)


# They begin with letters, which are looked for ten times as fast as the beginning of a statement.
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
# A block that is not closed goes to the end, else the next one would look for its end anew.
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
    """`import a.b, c as d` and `from .a import b, c as d`."""
    masked = _PYTHON_CONTINUED.sub(lambda end: " " * len(end[0]), masking.mask_python(text))
    for found in _PYTHON_IMPORT.finditer(masked):
        if not _begins_statement(masked, found.start()):
            continue
        for name in _PYTHON_MODULE.finditer(found["names"]):
            start = found.start("names") + name.start("name")
            yield Link(LinkKind.PYTHON, name["name"], start, renamed=name["alias"] is not None)
    for found in _PYTHON_FROM.finditer(masked):
        if not _begins_statement(masked, found.start()):
            continue
        module = found["module"]
        yield Link(LinkKind.PYTHON_FROM, module, found.start("module"))
        group = "names" if found["inner"] is None else "inner"
        for name in _PYTHON_NAME.finditer(found[group]):
            yield Link(
                LinkKind.PYTHON_NAME,
                name["name"],
                found.start(group) + name.start("name"),
                context=module,
                renamed=name["alias"] is not None,
            )


def _begins_statement(text: str, at: int) -> bool:
    """Return whether only blanks are between a place and a line's beginning, a `;` or a `:`."""
    before = text[max(0, at - 200) : at].rstrip(" \t")
    return before[-1:] in ("\n", "\r", ";", ":") or (not before and at <= 200)


def find_go(text: str) -> Iterator[Link]:
    """Yield the packages in the import declarations."""
    masked = masking.mask_script(text)
    for block in _GO_BLOCK.finditer(masked):
        for found in _GO.finditer(block[0]):
            yield Link(LinkKind.GO, found["path"], block.start() + found.start("path"))


def _finder(
    kind: LinkKind, mask: Callable[[str], str], *patterns: re.Pattern[str]
) -> Callable[[str], Iterator[Link]]:
    """Return a function that finds links of one kind: group `path` of each match in masked text."""

    def find(text: str) -> Iterator[Link]:
        masked = mask(text)
        for pattern in patterns:
            for found in pattern.finditer(masked):
                group = "path" if found["path"] is not None else "bare"
                yield Link(kind, found[group], found.start(group))

    return find


find_javascript = _finder(LinkKind.JAVASCRIPT, masking.mask_script, _JAVASCRIPT)
find_jvm = _finder(LinkKind.JVM, masking.mask_c, _JVM)
find_ruby = _finder(LinkKind.RUBY, masking.mask_hash, _RUBY)
find_php_files = _finder(LinkKind.PHP, masking.mask_php, _PHP)
find_php_uses = _finder(LinkKind.PHP_USE, masking.mask_php, _PHP_USE)
find_css = _finder(LinkKind.CSS, masking.mask_css, _CSS)
find_latex = _finder(LinkKind.LATEX, masking.mask_latex, _LATEX)


def find_c(text: str) -> Iterator[Link]:
    """`#include "a.h"`, and `#include <a.h>`, which may be of the workspace too."""
    for found in _C.finditer(masking.mask_c(text)):
        if found["path"] is not None:
            yield Link(LinkKind.C_INCLUDE, found["path"], found.start("path"))
        else:
            yield Link(LinkKind.C_SYSTEM, found["system"], found.start("system"))


def find_references(text: str) -> Iterator[Link]:
    """Yield `/// <reference path="a.d.ts" />`, which is a comment to all but TypeScript."""
    for found in _REFERENCE.finditer(text):
        yield Link(LinkKind.REFERENCE, found["path"], found.start("path"))


def find_latex_images(text: str) -> Iterator[Link]:
    r"""`\includegraphics{a}`, with the folders that a `\graphicspath{{b/}{c/}}` names."""
    masked = masking.mask_latex(text)
    said = _LATEX_FOLDERS.search(masked)
    folders = "" if said is None else "\n".join(_LATEX_FOLDER.findall(said["folders"]))
    for found in _LATEX_IMAGE.finditer(masked):
        yield Link(LinkKind.LATEX_IMAGE, found["path"], found.start("path"), folders)
