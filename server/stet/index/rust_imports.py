"""The modules that Rust code declares and uses, with the inline modules that they stand in."""

import re
from collections.abc import Iterator

from stet.index.link import Link, LinkKind
from stet.index.masking import mask_rust

_MAX_DEPTH = 16
"""Inline modules within each other; what stands deeper is not looked at."""

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
    """The text of an attribute."""
    written = _TEXT.match(text, at)
    if written is not None:
        yield Link(LinkKind.RUST_PATH, written["path"], written.start("path"))


def _declared(match: re.Match[str], inside: str, paths: list[Link]) -> Iterator[Link]:
    """A module in a file of its own, which the attributes before it may have named."""
    if not paths:
        yield Link(LinkKind.RUST_MOD, match["file"], match.start("file"), inside=inside)
    elif not inside:  # else the path counts from a folder of its own
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
    """The path of a `use`, and the members of its group, each with the path that stands before it."""
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
