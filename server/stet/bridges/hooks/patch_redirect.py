"""Redirects patches of an agent to the copies of the files, and proposes what they have changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stet.bridges.hooks.hook_session import (
    PASSED,
    Denied,
    HookSession,
    Redirected,
    ToolDecision,
    absolute_path,
)
from stet.bridges.hooks.patch import PatchAction, PatchedFile, PatchInvalid, parse_patch


@dataclass(frozen=True, slots=True)
class RedirectedPatch:
    """What happens to a patch.

    Attributes:
        decision: The decision; `Redirected` if any file of the patch is redirected.
        text: The text of the patch that the agent is to apply.
    """

    decision: ToolDecision
    text: str


async def redirect_patch(session: HookSession, folder: object, text: str) -> RedirectedPatch:
    """Return what happens to a patch, before it is applied.

    Args:
        session: The session.
        folder: The folder in which the agent works; relative paths begin there.
        text: The patch.
    """
    try:
        patch = parse_patch(text)
    except PatchInvalid as error:
        reason = f"The patch was not applied: Stet can't read it ({error})."
        return RedirectedPatch(Denied(reason), text)
    paths: dict[str, str] = {}
    notes: list[str] = []
    for file in patch.files:
        for named in filter(None, (file.path, file.new_path)):
            fits = file.fits if named == file.path else None
            decision = await session.before_write(absolute_path(folder, named), fits)
            if isinstance(decision, Denied):
                return RedirectedPatch(decision, text)
            if isinstance(decision, Redirected):
                paths[named] = str(decision.path)
                notes.append(decision.note)
    if not paths:
        return RedirectedPatch(PASSED, text)
    note = " ".join(dict.fromkeys(filter(None, notes)))
    return RedirectedPatch(Redirected(Path(), note), patch.with_paths(paths))


async def propose_patch(session: HookSession, folder: object, text: str) -> str:
    """Propose what a patch has changed in the copies; return a sentence for the agent."""
    try:
        patch = parse_patch(text)
    except PatchInvalid:
        return ""
    return await session.after_write(
        *_written(patch.files, folder), deleted=_deleted(patch.files, folder)
    )


def _written(files: Sequence[PatchedFile], folder: object) -> list[Path]:
    named = [one for file in files for one in (file.path, file.new_path) if one]
    return [absolute_path(folder, one) for one in dict.fromkeys(named)]


def _deleted(files: Sequence[PatchedFile], folder: object) -> frozenset[Path]:
    gone = (one for one in files if one.action is PatchAction.DELETE or one.new_path)
    return frozenset(absolute_path(folder, one.path) for one in gone)
