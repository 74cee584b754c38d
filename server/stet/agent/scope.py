"""The editable scope of a turn, as the gate asks for it."""

import dataclasses
from collections.abc import Mapping

from stet.agent.turn import Ask, Mode
from stet.review.rules import EditRules
from stet.text.document import TextDocument
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace


def rules_for(ask: Ask, workspace: Workspace, shown: Mapping[str, TextDocument]) -> EditRules:
    """The rules of a turn.

    Args:
        ask: The question; its place names the file that was active.
        workspace: Settings and roots.
        shown: What the model has been shown, by canonical URI; it may grow, and the scope `context` with it.
    """
    settings = workspace.settings.edit
    off = {*workspace.settings.agent.disabled_tools, *ask.disabled_tools}
    # A tool that is switched off must not come in by a position of another.
    settings = dataclasses.replace(
        settings,
        can_create=settings.can_create and "create_file" not in off,
        can_navigate=settings.can_navigate and "open_file" not in off,
    )
    current = ask.place.uri
    current_key = canonical(current) if current else None

    def editable(uri: str) -> bool:
        key = canonical(uri)
        return key == current_key or (settings.scope != "current" and key in shown)

    def may_create(uri: str) -> bool:
        path = path_of(uri)
        if path is None:
            return False
        if settings.scope == "current":
            here = path_of(current) if current else None
            return here is not None and path.parent == here.parent
        return any(path.is_relative_to(root.path) for root in workspace.roots)

    return EditRules(settings, editable, may_create, read_only=ask.mode is Mode.ASK)
