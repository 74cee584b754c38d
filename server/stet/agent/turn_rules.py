"""The rules of one turn: which files it may edit and create, by the settings and the question."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from stet.agent.turn import Ask, Mode
from stet.links.link_scan import LinkGraph
from stet.review.policy.rules import EditRules
from stet.text.document import TextDocument
from stet.workspace.path_status import PathStatus, inspect_path
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace


def linked_files(uri: str | None, graph: LinkGraph | None) -> tuple[str, ...]:
    """Return the files that the scope `linked` adds to the file at `uri`: its direct neighbours."""
    return () if uri is None or graph is None else graph.neighbours(uri, 1)


def create_turn_rules(
    ask: Ask, workspace: Workspace, shown: Mapping[str, TextDocument], linked: Collection[str] = ()
) -> EditRules:
    """Return the rules of a turn.

    Args:
        ask: The question; its place names the file that was active.
        workspace: The workspace with its settings and roots.
        shown: The documents that the model has been shown, by canonical URI. Documents that are
            added later extend the scope `context`.
        linked: URIs of the files that are linked with the active one, for the scope `linked`.
    """
    settings = workspace.settings.edit
    off = {*workspace.settings.agent.disabled_tools, *ask.disabled_tools}
    # A disabled tool must not be replaced by a special position of another tool.
    settings = replace(
        settings,
        can_create=settings.can_create and "create_file" not in off,
        can_navigate=settings.can_navigate and "open_file" not in off,
    )
    current = ask.place.uri
    fixed = {current, *linked} if settings.scope == "linked" else {current}
    fixed_keys = {canonical(uri) for uri in fixed if uri}
    fixed_folders = {path.parent for uri in fixed if uri and (path := path_of(uri))}

    def editable(uri: str) -> bool:
        key = canonical(uri)
        return key in fixed_keys or (settings.scope == "context" and key in shown)

    def may_create(uri: str) -> bool:
        path = path_of(uri)
        if path is None:
            return False
        if settings.scope != "context":
            return path.parent in fixed_folders
        return any(path.is_relative_to(root.path) for root in workspace.roots)

    def path_status(uri: str) -> PathStatus:
        return inspect_path(workspace.snapshot().asked_about(current), uri)

    def bound() -> Callable[[str], PathStatus]:
        return partial(inspect_path, workspace.snapshot().asked_about(current))

    read_only = ask.mode is Mode.ASK
    return EditRules(settings, editable, may_create, path_status, read_only=read_only, bound=bound)
