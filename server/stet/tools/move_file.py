"""`move_file`: propose a new name or folder for a file, with changes of all links to the file."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pydantic import Field

from stet.links.link import Link
from stet.links.link_rewrites import rewrite_links
from stet.links.link_scan import LinkGraph, scan_links
from stet.links.links import find_links
from stet.review.policy.rules import EditRules
from stet.review.proposal import EditDraft, MoveDraft
from stet.review.resolve.prepared_edit import PreparedDraft, prepare_draft, rebase_onto_blocks
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.paths import Located
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot
from stet.workspace.uris import uri_of

MAX_NAMED = 20
"""The most files or links that are named in one answer."""
_MAX_TRIES = 3


class MoveFile(Params):
    """Propose that a file gets another name or goes to another folder.

    Links to it, and its own relative links, are changed in the same proposal: wikilinks, Markdown
    links, imports. Uses of an imported module in code stay as they are: look for them afterwards.
    A file without text needs no reading, only the files that link to it do. Nothing is moved until
    the user accepts.
    """

    file: str = Field(description="Path relative to the workspace root.")
    to: str = Field(description="Its new path, or a folder with `/` at the end.")


async def run(params: MoveFile, ctx: ToolContext) -> str:
    """Propose the move and return what was proposed.

    Raises:
        ToolError: If there is no such file, or the move is refused.
    """
    places = await _locate_paths(params, ctx)
    old, new = places.old, places.new
    with ctx.proposer.reporting_refusals(old.name, "move"):
        prepared, updates = await _prepare_move(places, ctx)
        if prepared.authorized.protected:
            prepared = prepared.with_caution(ctx.proposer.explain_source(old.name, new.name))
        snapshot = ctx.reader.snapshot()
        rebased = tuple(rebase_onto_blocks(link, snapshot) for link in prepared.links)
        move, *links = ctx.reader.ledger.propose(replace(prepared, links=rebased))
    message = f"Proposed {move.id}: {old.name} becomes {new.name}"
    if links:
        files = ", ".join(dict.fromkeys(link.draft.name for link in prepared.links))
        message += f", with {len(links)} changes of links ({files})"
    return f"{message}. It waits for the user; until then the file keeps its name.\n{_describe_left(updates)}"


@dataclass(frozen=True, slots=True)
class _MovePaths:
    """The present and the new location of a file, and whether the file has text to show."""

    old: Located
    new: Located
    holds_text: bool


@dataclass(frozen=True, slots=True)
class _LinkUpdates:
    """The changes of links by a move, computed in a worker thread.

    Attributes:
        scan: All links of the workspace.
        edits: The replacements of links, by the path of the file.
        names: The names of the files in `edits`, by path.
        left: The links that can't be rewritten, each with the name of its file.
        linked_from: For a file without text, the URIs of all files that link to it.
    """

    scan: LinkGraph
    edits: Mapping[str, tuple[Replacement, ...]]
    names: Mapping[str, str]
    left: tuple[tuple[str, Link], ...]
    linked_from: tuple[str, ...]


async def _locate_paths(params: MoveFile, ctx: ToolContext) -> _MovePaths:
    """Return the present and the new location of the file.

    Raises:
        ToolError: If there is no such file, or the new location is invalid.
    """
    old = ctx.reader.locate_to_write(params.file, "move")
    if old.path is None:
        raise ToolError(f"{params.file!r} is not on disk yet: the user must save it first.")
    snapshot, holds_text = ctx.reader.snapshot(), True
    try:
        await asyncio.to_thread(snapshot.show, old.uri)
    except NotShown as refused:
        if refused.rule not in NO_TEXT:
            raise ToolError(str(refused)) from refused
        # A file that is too large has text, but the model has not read this text.
        holds_text = refused.rule != "binary"
    to = params.to
    if to.endswith("/") or to in ("", "."):
        to = str(PurePosixPath(to) / old.path.name)
    new = ctx.reader.locate_to_write(to, "move")
    name = PurePosixPath(to).name
    if new.path is None or (new.uri == old.uri and name == old.path.name):
        raise ToolError(f"{params.file!r} is already there.")
    if new.uri == old.uri:  # the disk ignores case, and only the case changes
        path = old.path.with_name(name)
        new = Located(uri_of(path), path, snapshot.name_of(uri_of(path)))
    elif await asyncio.to_thread(snapshot.exists, new.uri):
        raise ToolError(f"{params.to!r} already exists. To move into a folder, end it with `/`.")
    return _MovePaths(old, new, holds_text)


async def _prepare_move(places: _MovePaths, ctx: ToolContext) -> tuple[PreparedDraft, _LinkUpdates]:
    """Return the authorized move with the edits of all links, each an edit of the current text.

    Raises:
        ProposalRefused: If a rule refuses the move.
        ToolError: If the files change during every attempt, or files must be read first.
    """
    old, new = places.old, places.new
    for _ in range(_MAX_TRIES):
        # Take the snapshot here: the workspace belongs to the event loop.
        updates = await asyncio.to_thread(_compute_link_updates, ctx.reader.snapshot(), ctx, places)
        _check_scope(updates, places, ctx)
        documents = {
            path: await ctx.reader.document_to_edit_at(updates.scan.uris[path])
            for path in sorted(updates.edits)
        }
        uris = [updates.scan.uris[path] for path in documents]
        inspect = ctx.proposer.rules.prefetch_status([old.uri, new.uri, *uris])
        rules, unchanged = await asyncio.to_thread(_inspect_rules, inspect, updates, documents)
        summary = f"Links to {old.name} at {new.name}"
        links = _link_edits(updates, documents, unchanged, summary, ctx)
        if links is None:
            continue
        draft = MoveDraft(
            **ctx.reader.turn.origin,
            uri=old.uri,
            name=old.name,
            new_uri=new.uri,
            new_name=new.name,
            summary=f"Move {old.name} to {new.name}",
            links=links,
            holds_text=places.holds_text,
            linked_from=updates.linked_from,
        )
        prepared = await asyncio.to_thread(prepare_draft, draft, rules)
        # No await from here on: the first texts may have changed while the others were read.
        if all(ctx.reader.is_latest_text(link.document) for link in links):
            return prepared, updates
    raise ToolError(f"The files that link to {old.name!r} are being changed. Try again later.")


def _compute_link_updates(snapshot: Snapshot, ctx: ToolContext, places: _MovePaths) -> _LinkUpdates:
    old, new = places.old, places.new
    assert old.path is not None
    assert new.path is not None
    scan = scan_links(snapshot, ctx.links)

    def exists(path: str) -> bool:
        return snapshot.exists(uri_of(Path(path)))

    here, files = old.path.as_posix(), scan.files
    linked_from: tuple[str, ...] = ()
    if not places.holds_text:  # the scan does not include such files
        every_file = snapshot.walk(only_text=False)
        found = {each.path.as_posix(): each.uri for each in every_file if each.path is not None}
        uris = {**found, **scan.uris, here: old.uri}
        files = replace(files, paths=files.paths | uris.keys())
        links = LinkGraph(files, scan.links, uris).backlinks(old.uri)
        linked_from = tuple(dict.fromkeys(edge.source for edge in links))
    rewriting = rewrite_links(scan.links, files, here, new.path.as_posix(), exists)
    names = {path: snapshot.name_of(scan.uris[path]) for path in rewriting.edits}
    left = tuple((snapshot.name_of(scan.uris[path]), link) for path, link in rewriting.left)
    return _LinkUpdates(scan, rewriting.edits, names, left, linked_from)


def _check_scope(updates: _LinkUpdates, places: _MovePaths, ctx: ToolContext) -> None:
    """Check that all files of a move have been read, if the scope is `context`.

    In other scopes reading does not help, and the policy reports the refusal.

    Raises:
        ToolError: If there are unread files; the message names all of them.
    """
    if ctx.proposer.rules.settings.scope != "context" or ctx.proposer.rules.read_only:
        return
    files = {updates.scan.uris[path]: updates.names[path] for path in updates.edits}
    old = places.old
    if places.holds_text:
        problem = f"Moving {old.name!r} changes files that you have not read"
        files = {old.uri: old.name} | files
    else:
        problem = (
            f"{old.name!r} holds no text and need not be read, but the files that link to it must "
            "be, and these are not yet"
        )
        snapshot = ctx.reader.snapshot()
        files |= {uri: snapshot.name_of(uri) for uri in updates.linked_from}
    unread = [name for uri, name in files.items() if not ctx.proposer.rules.editable(uri)]
    if unread:
        names = _join_names(list(map(repr, unread)))
        raise ToolError(f"{problem}: {names}. Read them, then move it.")


def _inspect_rules(
    inspect: Callable[[], EditRules], updates: _LinkUpdates, documents: Mapping[str, TextDocument]
) -> tuple[EditRules, frozenset[str]]:
    """Return the inspected rules and the paths whose links are as scanned. Blocks on the disk."""
    return inspect(), frozenset(
        path for path in documents if _is_as_scanned(updates, path, documents[path])
    )


def _is_as_scanned(updates: _LinkUpdates, path: str, document: TextDocument) -> bool:
    return find_links(document.text, updates.names[path]) == updates.scan.links[path]


def _link_edits(
    updates: _LinkUpdates,
    documents: Mapping[str, TextDocument],
    unchanged: Collection[str],
    summary: str,
    ctx: ToolContext,
) -> tuple[EditDraft, ...] | None:
    """Return the edits for the current texts, or None if a text is no longer as scanned.

    `unchanged` has the paths of the documents whose given texts are as scanned.
    """
    drafts = []
    for path, document in documents.items():
        now = ctx.reader.workspace.shown(document.uri) or document
        has_changed = now.text != document.text
        if not (_is_as_scanned(updates, path, now) if has_changed else path in unchanged):
            return None
        edit = TextEdit(updates.edits[path])
        drafts.append(ctx.proposer.edit_draft(now, updates.names[path], edit, summary))
    return tuple(drafts)


def _describe_left(updates: _LinkUpdates) -> str:
    """Return the message to the model about links that could not be rewritten or searched for."""
    message = ""
    if left := [f"{link.written!r} in {name}" for name, link in updates.left]:
        message = "These links can't be changed by themselves; see to them with `edit_file`: "
        message += f"{_join_names(left)}.\n"
    if updates.scan.is_cut:
        message += "The workspace is too large to look through: other files may link to it too.\n"
    return message


def _join_names(names: Sequence[str]) -> str:
    """Return at most `MAX_NAMED` names as text, with the number of the others."""
    n_more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")


MOVE_FILE = Tool("move_file", ToolGroup.ACTION, ToolKind.WRITE, MoveFile, run)
