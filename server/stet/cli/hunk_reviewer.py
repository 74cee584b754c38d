"""The dialogue about hunks in a terminal: show each, ask for a decision, and execute it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from stet.cli import hunk_review
from stet.cli.terminal import CliError, LineReader, Terminal, coloured, hunk_diff
from stet.lsp.headless.headless_client import CommandFailed
from stet.text.encoding import Encoding

Item = dict[str, Any]
"""One hunk in the answer of `stet.proposals`."""


class ReviewClient(Protocol):
    """A server that has hunks: that of an editor, or one of this process."""

    async def command(self, name: str, *arguments: object) -> Any:
        """Run a command; return its answer as JSON.

        Raises:
            CommandFailed: If the server refuses the command.
        """

    async def accept(self, **arguments: object) -> dict[str, Any]:
        """Accept hunks and wait for the outcome; see `HeadlessClient.accept`.

        Raises:
            CommandFailed: If the server refuses the command.
        """

    async def text_of(self, uri: str) -> tuple[str | None, Encoding]:
        """Return the current text of a document, and the unit of its columns.

        The text is None if the document does not exist.
        """


class HunkReviewer:
    """The dialogue of one command.

    Attributes:
        accepted: The ids of the accepted hunks.
        rejected: The ids of the rejected hunks.
        refused: `{hunk, reason}` of the hunks that could not be accepted.
    """

    def __init__(
        self,
        client: ReviewClient,
        terminal: Terminal,
        answers: LineReader,
        name: Callable[[str], str],
    ) -> None:
        """Create a dialogue about no hunk yet.

        Args:
            client: The server that has the hunks.
            terminal: Shows hunks.
            answers: Reads what the user types.
            name: Returns the name of a document for the user.
        """
        self.accepted: list[str] = []
        self.rejected: list[str] = []
        self.refused: list[dict[str, Any]] = []
        self._client = client
        self._terminal = terminal
        self._answers = answers
        self._name = name

    async def review(self, hunks: Sequence[str]) -> None:
        """Show each hunk, ask for a decision and execute it; `a` and `q` decide about the rest."""
        accepts_rest = False
        for number, hunk in enumerate(hunks, start=1):
            item = await self._pending(hunk)
            if item is None:
                continue
            key = "y"
            # A protected hunk needs an approval of its own.
            if not accepts_rest or item["protected"]:
                await self.show(item, number, len(hunks), with_name=False)
                key = await self._ask_key(item)
            if key == "e" and (new := await self._edit(item)) is not None:
                await self.accept([hunk], {**named(item), "new": new})
            elif key in {"y", "a"}:
                await self.accept([hunk], named(item))
            elif key == "n":
                await self.reject([hunk], {"hunk": hunk})
            elif key == "q":
                return
            accepts_rest = accepts_rest or key == "a"

    async def show(self, item: Item, number: int, total: int, *, with_name: bool) -> None:
        """Show a hunk with its number; `with_name`: also the lines of a diff that name the file."""
        name = self._name(item["uri"])
        text, encoding = await self._client.text_of(item["uri"])
        self._terminal.show(hunk_review.heading(name, number, total, item))
        diff = hunk_diff(item, text, name, encoding)
        self._terminal.show(coloured(diff) if with_name else hunk_review.body(diff))

    async def accept(self, hunks: Sequence[str], which: dict[str, object]) -> None:
        """Accept `hunks`, which the arguments in `which` select; record the outcome."""
        try:
            done = await self._client.accept(**which)
        except CommandFailed as error:  # no hunk can be accepted
            refused = [{"hunk": hunk, "reason": str(error)} for hunk in hunks]
            done = {"accepted": [], "refused": refused}
        self.accepted += done["accepted"]
        self.refused += done["refused"]

    async def reject(self, hunks: Sequence[str], which: dict[str, object]) -> None:
        """Reject `hunks`, which the arguments in `which` select; record the outcome."""
        try:
            done = await self._client.command("stet.reject", which)
        except CommandFailed as error:
            refused = [{"hunk": hunk, "reason": str(error)} for hunk in hunks]
            done = {"hunks": [], "refused": refused}
        self.rejected += done["hunks"]
        self.refused += done.get("refused") or ()

    async def _pending(self, hunk: str) -> Item | None:
        """Return a hunk as it is now, moved by the hunks accepted before; None if it is not
        pending.
        """
        listed = await self._client.command("stet.proposals")
        item: Item = next(item for item in listed if item["hunk"] == hunk)
        if item["state"] == "pending":
            return item
        reason = item.get("reason") or f"it is {item['state']}"
        self.refused.append({"hunk": hunk, "reason": reason})
        return None

    async def _ask_key(self, item: Item) -> str:
        """Ask about a hunk until the user types one of the keys; return it, or "q" at the end of
        input.
        """
        keys = hunk_review.keys_of(item)
        question = f"Accept this hunk? [{','.join(keys)}] "
        while (answer := await self._answers.read_line(question)) is not None:
            key = answer.strip().lower()[:1]
            if key in keys and key != "?":
                return key
            self._terminal.explain(hunk_review.help_lines(keys))
        return "q"

    async def _edit(self, item: Item) -> str | None:
        """Let the user edit a hunk until it is valid; return the new text, or None to leave it
        pending.
        """
        text = hunk_review.hunk_text(item["old"], item["new"])
        while True:
            try:
                text = await asyncio.to_thread(hunk_review.edit_in_editor, text)
                return hunk_review.read_hunk(text, item["old"], item["new"])
            except hunk_review.InvalidHunk as error:
                self._terminal.say(f"This hunk can't be used: {error}.", "red")
            except CliError as error:
                self._terminal.say(str(error), "red")
            answer = await self._answers.read_line("Edit again? [y,n] (n leaves it pending) ")
            if (answer or "n").strip().lower()[:1] != "y":
                return None


def named(item: Item) -> dict[str, object]:
    """Return the arguments of `stet.accept` that name a hunk which the user has seen."""
    return {"hunk": item["hunk"], "hash": item["hash"], "protected": True}
