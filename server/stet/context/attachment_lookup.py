"""What the user has attached to a question, found: files, folders, and the scope that goes with it."""

from collections.abc import Collection
from dataclasses import replace

from stet.context.attachment_collector import AttachmentCollector, CollectedAttachments
from stet.context.current_document import CurrentDocument
from stet.workspace.attachments import Attachments
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot
from stet.workspace.uris import path_of

_NOT_HIDDEN = NO_TEXT | {"missing", "special", "unreadable"}
"""Rules of `NotShown` that say nothing of what the user hides."""


def with_scope(snapshot: Snapshot, attachments: Attachments) -> Snapshot:
    """The same world with the scope that the attachments ask for, where they do."""
    now = snapshot.settings.context
    depth = attachments.link_depth
    context = replace(
        now,
        scope=attachments.scope or now.scope,
        link_depth=now.link_depth if depth is None else depth,
    )
    return replace(snapshot, settings=replace(snapshot.settings, context=context))


def collect_attachments(
    snapshot: Snapshot,
    attachments: Attachments,
    current: CurrentDocument | None,
    exclude: Collection[str] = (),
) -> CollectedAttachments:
    """What is attached, but for the files of `exclude` (keys). Asks the disk: for a worker thread."""
    collector = AttachmentCollector(snapshot, current, exclude)
    problems: list[str] = []
    hidden = list(attachments.problems)
    for uri in attachments.files:
        located = Located(uri, path_of(uri), snapshot.name_of(uri))
        try:
            collector.add_file(located)
        except NotShown as refused:
            reasons = problems if refused.rule in _NOT_HIDDEN else hidden
            reasons.append(f"{located.name}: {refused.message}")
    for uri in attachments.folders:
        located = Located(uri, path_of(uri), snapshot.name_of(uri) or ".")
        refusal = None if located.path is None else snapshot.privacy().check_folder(located.path)
        if refusal is not None:
            hidden.append(f"{located.name}: {refusal.for_model}")
        elif not collector.is_folder(located):
            problems.append(f"{located.name}: There is no such folder.")
        else:
            try:
                collector.add_folder(located)
            except PathRefused as refused_path:
                hidden.append(f"{located.name}: {refused_path.message}")
    files, folders = tuple(collector.files.values()), tuple(collector.folders)
    return CollectedAttachments(files, folders, tuple(problems), tuple(hidden))
