"""Redirects patches of an agent to the copies of the files, and proposes what they have changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from stet.bridges.hooks.shell_patch import ShellPatchUnclear, shell_patch

UNCLEAR = Denied(
    "The command was not run: the user reviews your edits with Stet. Use the tool apply_patch, or "
    "a command that is only apply_patch with the patch as a here-document."
)
MIXED = Denied(
    "The patch was not applied: it changes files of the workspace, which the user reviews, and "
    "other files, for which you need the user's permission. Make a patch for each."
)


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
    passed: list[str] = []
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
            else:
                passed.append(named)
    if not paths:
        return RedirectedPatch(PASSED, text)
    if _is_mixed(passed):
        return RedirectedPatch(MIXED, text)
    note = " ".join(dict.fromkeys(filter(None, notes)))
    return RedirectedPatch(Redirected(Path(), note), patch.with_paths(paths))


async def redirect_command(session: HookSession, folder: object, command: str) -> RedirectedPatch:
    """Return what happens to a shell command, before it runs; `text` is then the command.

    The agent calls no hook after it has applied a patch of a command, so the session proposes what
    the patch has changed at the end of the turn.
    """
    try:
        found = shell_patch(command)
    except ShellPatchUnclear:
        return RedirectedPatch(UNCLEAR, command)
    if found is None:
        return RedirectedPatch(PASSED, command)
    there = absolute_path(folder, found.folder)
    redirected = await redirect_patch(session, str(there), found.patch)
    if isinstance(redirected.decision, Redirected):
        files = parse_patch(found.patch).files
        await session.expect_deletions(_deleted(files, str(there)))
    return replace(redirected, text=found.with_patch(redirected.text))


async def propose_patch(session: HookSession, folder: object, text: str) -> str:
    """Propose what a patch has changed in the copies; return a sentence for the agent."""
    try:
        patch = parse_patch(text)
    except PatchInvalid:
        return ""
    return await session.after_write(
        *_written(patch.files, folder), deleted=_deleted(patch.files, folder)
    )


def _is_mixed(passed: Sequence[str]) -> bool:
    """Return whether a redirected patch names other files: a yes to it would be one to these."""
    return bool(passed)


def _written(files: Sequence[PatchedFile], folder: object) -> list[Path]:
    named = [one for file in files for one in (file.path, file.new_path) if one]
    return [absolute_path(folder, one) for one in dict.fromkeys(named)]


def _deleted(files: Sequence[PatchedFile], folder: object) -> frozenset[Path]:
    gone = (one for one in files if one.action is PatchAction.DELETE or one.new_path)
    return frozenset(absolute_path(folder, one.path) for one in gone)
