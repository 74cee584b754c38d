"""`link_files`: propose a link from one note to another file, in the style of the note."""

import dataclasses
import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from functools import partial

from pydantic import Field

from stet.links.link import Link, LinkKind, ResolvedLink
from stet.links.link_resolver import resolve_link
from stet.links.link_scan import LinkGraph, scan_links
from stet.links.link_writer import write_link, write_url
from stet.links.links import find_links
from stet.review.resolve.edit_instruction import EditInstruction, InvalidInstruction, find_section
from stet.review.resolve.edit_instruction import resolve_instruction as place_text
from stet.system.system import FileKind
from stet.text.document import NOTES, TextDocument, ending_of
from stet.text.edit import TextEdit
from stet.tools.proposer import ComputedEdit
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.paths import Located
from stet.workspace.snapshot import Snapshot

_WIKI = frozenset({LinkKind.WIKI, LinkKind.EMBED})
_URL = frozenset({LinkKind.MARKDOWN, LinkKind.ANGLE})
_NOT_IN_WIKI = re.compile(r"[\[\]|\r\n]")
_IN_TEXT = re.compile(r"([\\\[\]])")
_ITEM = re.compile(r"([ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)(?:\[[ xX]\][ \t]+)?\S")
_NUMBER = re.compile(r"[0-9]{1,9}")


class LinkFiles(Params):
    """Propose a link from a note to another file: a wikilink or a Markdown link, as the note has
    them.

    It is put at the end of the note, or of the text under the heading `after`; a list there goes
    on. To put a link into a sentence, use `edit_file`.
    """

    file: str = Field(description="The note that gets the link, relative to the workspace root.")
    to: str = Field(description="The file it leads to, relative to the workspace root.")
    text: str | None = Field(default=None, description="What the link is to say.")
    after: str | None = Field(
        default=None, description="A heading of the note, such as `## Related`."
    )


async def run(params: LinkFiles, ctx: ToolContext) -> str:
    """Propose the link and return what was proposed.

    Raises:
        ToolError: If one of the files does not exist, the first is not a note, or the edit is
            refused.
    """
    if ending_of(params.file) not in NOTES:
        raise ToolError(
            f"{params.file!r} is not a Markdown note and has no links of that kind. In code an "
            "import or a comment names another file: write it with `edit_file`."
        )
    source = ctx.reader.locate_to_write(params.file, "link")
    target = ctx.reader.locate(params.to)
    find = partial(_compute_link_edit, params, ctx, (source, target))
    plan, hunks = await ctx.proposer.propose_computed(params.file, find, position="link")
    if not hunks:
        return f"{params.file} links to {params.to} there already, {plan.detail}.\n"
    return f"Proposed {hunks}: {plan.detail} in {source.name}. It waits for the user.\n"


def _compute_link_edit(
    params: LinkFiles,
    ctx: ToolContext,
    ends: tuple[Located, Located],
    document: TextDocument,
    snapshot: Snapshot,
) -> ComputedEdit:
    """Return the edit that inserts the link. Blocks on disk access.

    Raises:
        ToolError: If the target can't be linked to, or there is no such heading.
    """
    source, target = ends
    if target.path is None or not snapshot.exists(target.uri):
        raise ToolError(f"There is no file {params.to!r} to link to. `list_files` gives names.")
    if refusal := snapshot.privacy().check(target.uri):
        raise ToolError(f"{params.to!r} can't be linked to: {refusal.for_model}")
    stat = snapshot.system.stat(snapshot.system.real_path(target.path))
    if stat is not None and stat.kind is FileKind.FOLDER:
        raise ToolError(
            f"{params.to!r} is a folder, and a link leads to a file: name one in it, such as an index "
            "or overview. `list_files` gives names."
        )
    if source.path is None:
        raise ToolError(f"{params.file!r} is not on disk yet: the user must save it.")
    scan = scan_links(snapshot, ctx.links)
    here, there = source.path.as_posix(), target.path.as_posix()
    link = _format_link(params, document, (here, there), scan)
    summary = f"Link {source.name} to {target.name}"
    first, last = _section(params.after, document)
    for scanned_text in find_links(document.text, source.name):
        line = document.position_at(scanned_text.start).line
        resolved = resolve_link(scanned_text, here, scan.files)
        if first <= line < last and resolved is not None and there in resolved.targets:
            detail = f"at line {line + 1}; nothing is proposed"
            return ComputedEdit(TextEdit(()), summary, detail)
    return ComputedEdit(_insert_link(link, document, first, last), summary, link)


def _format_link(
    params: LinkFiles, document: TextDocument, paths: tuple[str, str], scan: LinkGraph
) -> str:
    """Return the link in the form that the note uses."""
    here, there = paths
    stem = posixpath.splitext(posixpath.basename(there))[0]
    label = " ".join((params.text or "").split())
    if _uses_wiki(document, here, scan.links):
        # The scan has only text files, so it may lack the target, a picture for example.
        known = dataclasses.replace(scan.files, paths=scan.files.paths | {there})
        template = Link(LinkKind.WIKI, stem, 0)
        written = write_link(template, ResolvedLink((there,)), here, there, known)
        if written is not None and not _NOT_IN_WIKI.search(label):
            return f"[[{written}|{label}]]" if label else f"[[{written}]]"
    url = write_url(Link(LinkKind.MARKDOWN, "", 0), here, there)
    text = _IN_TEXT.sub(r"\\\1", label or stem)
    return f"[{text}]({url})"


def _uses_wiki(document: TextDocument, here: str, links: Mapping[str, tuple[Link, ...]]) -> bool:
    """Return whether most links of the note, or else of the workspace's notes, are wikilinks."""
    notes = (link for path, found in links.items() if ending_of(path) in NOTES for link in found)
    for style in (find_links(document.text, here), notes):
        kinds = Counter(link.kind in _WIKI for link in style if link.kind in _WIKI | _URL)
        if kinds:
            return kinds[True] > kinds[False]
    return False


def _section(after: str | None, document: TextDocument) -> tuple[int, int]:
    """Return the lines (0-based, half-open) under the heading `after`, or all lines without one.

    Raises:
        ToolError: If there is no such heading, or more than one.
    """
    if after is None:
        return 0, document.n_lines
    try:
        return find_section(document, after)
    except InvalidInstruction as error:
        raise ToolError(f"{error}") from error


def _insert_link(link: str, document: TextDocument, first: int, last: int) -> TextEdit:
    """Return the edit that inserts the link after the last line with text of a section.

    If this line is a list item, the link becomes the next item, otherwise a separate paragraph.
    """
    end = last
    while end > first and not document.lines[end - 1].strip():
        end -= 1
    above = document.lines[end - 1].rstrip("\r\n") if end > first else ""
    content = f"\n{link}" if end > 0 else link
    if item := _ITEM.match(above):
        marker = _NUMBER.sub(lambda number: str(int(number[0]) + 1), item[1])
        content = f"{marker}{link}"
    if end < document.n_lines:
        # Separate the link from the text below as well.
        content += "\n" if document.lines[end].strip() else ""
        return place_text(EditInstruction("insert", end + 1), f"{content}\n", document)
    return place_text(EditInstruction("end"), content, document)


LINK_FILES = Tool("link_files", ToolGroup.ACTION, ToolKind.WRITE, LinkFiles, run)
