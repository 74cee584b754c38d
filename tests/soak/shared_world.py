"""A simulated workspace with two sessions of other agents, beside Stet's own agent and the user.

The sessions have the real `SessionView` on a real `Workspace`. Each sees its own pending text only.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import ClassVar

from stet.bridges.line_changes import with_line_ends_of
from stet.bridges.session_view import SessionView, ViewError
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft, Hunk, HunkState
from stet.review.resolve.prepared_edit import PreparedDraft
from stet.text.edit import TextChange
from stet.text.lines import line_ends, split_lines
from stet.text.merge import merge_partly
from stet.workspace.workspace import Modification, ModificationKind, WireEdit, Workspace
from tests.soak.checks import Violation
from tests.soak.journal import MemoryJournal
from tests.soak.simulated_document import URI, WORD, words_of
from tests.soak.simulated_session import (
    SimulatedSession,
    ids_in,
    moved_words,
    pending_of,
    run_session,
    text_with_pending,
)
from tests.soak.simulated_world import SimulatedWorld
from tests.support.workspaces import close_document, make_workspace, open_document

PATH = "/ws/a.txt"
CHATS = ("claude-1", "codex-1")
SECTION = 3500
"""A report with more characters may leave out decisions."""


class CheckedLedger(ReviewLedger):
    """A ledger whose proposals are checked."""

    def __init__(self, journal: MemoryJournal, check: "Callable[[_Proposing], None]") -> None:
        super().__init__(journal)
        self._check = check

    def propose(self, prepared: PreparedDraft, amends: Collection[str] = ()) -> tuple[Hunk, ...]:
        before = {hunk.id: hunk for hunk in self.live(URI)}
        chat = prepared.draft.chat
        assert isinstance(prepared.draft, EditDraft)
        views = {each: text_with_pending(self, prepared.draft.document, each) for each in CHATS}
        made = super().propose(prepared, amends)
        self._check(_Proposing(chat, before, views))
        return made


class _Proposing:
    """What was there when hunks were proposed.

    Args:
        chat: The session that proposes; "" for Stet's own agent.
        hunks: The live hunks before.
        views: The texts that the sessions saw before.
    """

    def __init__(self, chat: str, hunks: dict[str, Hunk], views: dict[str, str]) -> None:
        self.chat = chat
        self.hunks = hunks
        self.views = views


class SharedWorld(SimulatedWorld):
    """One document with its user, Stet's own agent, and two sessions of other agents."""

    operations: ClassVar[Mapping[str, int]] = {
        **SimulatedWorld.operations,
        "read_by_session": 4,
        "write_by_session": 16,
        "write_by_both": 3,
        "begin_turn_of_session": 4,
        "reject_with_reason": 3,
    }

    def __init__(self, seed: int) -> None:
        self._reasons: dict[str, str] = {}
        self._seen_by_user: set[str] = set()
        super().__init__(seed)
        self._start_server()

    def _new_ledger(self) -> ReviewLedger:
        return CheckedLedger(self.journal, self._check_proposing)

    def _start_server(self) -> None:
        """Open the document in a workspace that knows no session."""
        text = self.buffer.text
        self._workspace: Workspace = make_workspace({PATH: text}, opened={PATH: text})
        self._sessions = [self._session(chat) for chat in CHATS]
        for session in self._sessions:
            self._begin_turn(session)

    def _session(self, chat: str) -> SimulatedSession:
        agent = chat.partition("-")[0]
        view = SessionView(self._workspace, self.ledger, lambda: next(self._turns), agent, chat)
        return SimulatedSession(view)

    # -- the user and the editor -------------------------------------------------------------------

    def _follow(self, changes: Sequence[TextChange], *, apply: bool = False) -> None:
        if apply:
            changes = [self.buffer.apply(change) for change in changes]
        edits = tuple(
            WireEdit(
                change.range.start.line, change.range.start.character,
                change.range.end.line, change.range.end.character, change.text,
            )
            for change in changes
        )  # fmt: skip
        version = (self._workspace.version(URI) or 0) + 1
        self._workspace.apply(Modification(ModificationKind.CHANGED, URI, version, edits=edits))
        super()._follow(changes)

    def _reopen(self) -> None:
        super()._reopen()
        close_document(self._workspace, URI)
        open_document(self._workspace, URI, self.buffer.text)

    def _restart(self) -> None:
        super()._restart()
        self._start_server()

    def _reject_with_reason(self) -> None:
        """Reject a hunk of any agent, and say why."""
        if pending := self._pending():
            hunk = self._dice.choice(pending)
            self._reasons[hunk.id] = reason = self._word()
            self.ledger.reject(hunk.id, reason)

    def _while_a_session_waits(self) -> None:
        """Let the user or Stet's own agent do something while a session waits for a thread."""
        self._seen_by_user |= words_of(self.buffer.text).keys()
        if self._dice.random() < 0.15:
            name = self._dice.choice(_BETWEEN)
            getattr(self, f"_{name}")()
            self._check()
            self.counts["between"] += 1

    # -- the sessions ------------------------------------------------------------------------------

    def _read_by_session(self) -> None:
        """Read the document as a session."""
        session = self._dice.choice(self._sessions)
        run_session(self._read(session), self._while_a_session_waits)

    async def _read(self, session: SimulatedSession) -> None:
        seen = await session.view.read(URI)
        wanted = text_with_pending(self.ledger, self._document(), session.view.chat)
        if seen is None or seen.text != wanted:
            raise Violation(f"{session.view.chat} reads {seen}, not {wanted!r}")
        session.read = seen.text

    def _write_by_session(self) -> None:
        """Change, as a session, the text that it has read, perhaps a while ago."""
        run_session(self._write(self._dice.choice(self._sessions)), self._while_a_session_waits)

    def _write_by_both(self) -> None:
        """Let both sessions write at once."""

        async def both() -> None:
            writing = map(self._write, self._sessions)
            for failed in await asyncio.gather(*writing, return_exceptions=True):
                if failed is not None:
                    raise failed

        run_session(both(), self._while_a_session_waits)

    async def _write(self, session: SimulatedSession) -> None:
        if session.read is None or self._dice.random() < 0.6:
            await self._read(session)
        assert session.read is not None
        lines = split_lines(session.read) or [""]
        session.written = self._edited(lines)
        if self._dice.random() < 0.2:
            session.written = session.written.replace("\r\n", "\n")
        session.written = with_line_ends_of(session.read, session.written)
        try:
            hunks = await session.view.write(URI, session.read, session.written)
        except ViewError as error:
            self.counts[f"refused: {_reason(str(error))}"] += 1
            session.read = None
        else:
            self.counts["written" if hunks else "without a change"] += 1
            self.counts["in conflict"] += any(one.state is HunkState.CONFLICT for one in hunks)
            self._note_buried()
            session.read = session.written
        finally:
            session.written = None

    def _begin_turn_of_session(self) -> None:
        """Begin a turn of a session."""
        self._begin_turn(self._dice.choice(self._sessions), self._while_a_session_waits)

    def _begin_turn(
        self, session: SimulatedSession, between: Callable[[], None] = lambda: None
    ) -> None:
        """Begin a turn: the session must learn each decision, and nothing of other agents."""
        chat = session.view.chat
        news = self._decided(session)
        latest = max((hunk.changed for hunk in session.view.hunks), default=0)
        report = run_session(session.view.begin_turn(), between)
        own = self.ledger.hunks(chat=chat)
        texts = [text for h in own for text in (h.old, h.new, h.base, h.proposed, h.reason)]
        seen = self._seen_by_user | words_of("\n".join((*texts, self.buffer.text))).keys()
        if foreign := words_of(report).keys() - seen:
            raise Violation(f"{chat} is shown {foreign}: {report}")
        named, now = ids_in(report), {(one.id, one.changed): one for one in own}
        if len(report) < SECTION:
            for key in news & now.keys():
                reason = self._reasons.get(key[0], "")
                rejected = now[key].state is HunkState.REJECTED and now[key].reason == reason
                if key[0] not in named or (rejected and reason not in report):
                    raise Violation(f"{chat} does not learn of {now[key]}: {report}")
                self.counts["decisions learned"] += 1
        if others := named - {hunk.id for hunk in own}:
            raise Violation(f"{chat} is shown {others} of others: {report}")
        session.reported |= {key for key in now if key[0] in named}
        session.upto = latest

    def _decided(self, session: SimulatedSession) -> set[tuple[str, int]]:
        """Return the decisions that a session has yet to learn."""
        decided = {HunkState.ACCEPTED, HunkState.REJECTED, HunkState.UNDONE}
        new = {
            (hunk.id, hunk.changed)
            for hunk in session.view.hunks
            if hunk.state in decided and hunk.changed > session.upto
        }
        return new - session.reported

    # -- checks ------------------------------------------------------------------------------------

    def _check(self) -> None:
        super()._check()
        document = self._workspace.shown(URI)
        if document is None or document.text != self.buffer.text:
            raise Violation("the workspace has another text than the editor")
        self._seen_by_user |= words_of(document.text).keys()
        for session in self._sessions:
            chat = session.view.chat
            wanted = text_with_pending(self.ledger, document, chat)
            if (seen := session.view.proposer.reader.pending_view(document).text) != wanted:
                raise Violation(f"{chat} sees {seen!r}, not {wanted!r}")
            ids = [hunk.id for hunk in pending_of(self.ledger, URI, chat)]
            written = self.ledger.edit_of(document, ids).apply(document.text)
            if written != wanted:
                raise Violation(f"accepting all of {chat} makes {written!r}, not {wanted!r}")

    def _check_proposing(self, before: _Proposing) -> None:
        """Check the hunks after a proposal, and that a session sees what it has written."""
        now = {hunk.id: hunk for hunk in self.ledger.hunks(uri=URI)}
        for hunk_id, was in before.hunks.items():
            hunk = now[hunk_id]
            is_own = hunk.chat == before.chat
            if (hunk.state, hunk.old, hunk.new) == (was.state, was.old, was.new):
                continue
            if is_own and hunk.state in {HunkState.WITHDRAWN, HunkState.SUPERSEDED}:
                continue
            by = now.get(hunk.reason.removeprefix("replaced by "))
            if hunk.state is not HunkState.SUPERSEDED or by is None or by.chat != before.chat:
                raise Violation(f"a proposal of {before.chat!r} left {hunk}, which was {was}")
            self.counts["replaced"] += 1
            if before.chat and hunk_id not in by.reason:
                raise Violation(f"{by} does not say that it replaces {hunk_id}")
        for session in self._sessions:
            if session.view.chat == before.chat:
                self._check_written(session, before.views[before.chat])

    def _check_written(self, session: SimulatedSession, before: str) -> None:
        """Check that a session sees what it has written, merged with what it saw before."""
        assert session.read is not None
        assert session.written is not None
        text = text_with_pending(self.ledger, self._document(), session.view.chat)
        own = self.ledger.hunks(uri=URI, chat=session.view.chat)
        conflicts = [one for one in own if one.state is HunkState.CONFLICT]
        # A conflict that replaces a hunk takes its text out of the view first.
        is_whole = not any(one.replaces for one in conflicts)
        if before == session.read and is_whole:
            # Where line ends are mixed, new lines have those of the lines beside them.
            texts = (before, session.written, self.buffer.text)
            is_mixed = len(line_ends("".join(texts))) > 1
            if text != session.written and not (
                is_mixed and text.splitlines() == session.written.splitlines()
            ):
                raise Violation(f"{session.view.chat} wrote {session.written!r}, and sees {text!r}")
            return
        self.counts["merged"] += 1
        read, written = words_of(session.read).keys(), words_of(session.written).keys()
        wanted = (words_of(before).keys() - (read - written)) | (written - read)
        has = words_of(text).keys()
        unclear = self._unclear() | moved_words(session.read, before)
        merged = merge_partly(session.read, before, session.written)
        assert merged is not None
        # The session sees the user's lines where both have changed them.
        unclear |= words_of(
            "".join(f"{one.base}\n{one.theirs}\n" for one in merged.conflicts)
        ).keys()
        for hunk in conflicts:
            unclear |= words_of(f"{hunk.old}\n{hunk.base}\n{hunk.proposed}").keys()
        for each in (session.read, session.written, before, text):
            unclear |= {word for word, n in Counter(WORD.findall(each)).items() if n > 1}
        if wrong := (wanted ^ has) - unclear:
            raise Violation(
                f"{session.view.chat} sees {sorted(wrong & has)} too much, and not "
                f"{sorted(wrong - has)}"
            )

    def _unclear(self) -> set[str]:
        """Return the words that may be there twice, or were made of parts of others."""
        words = Counter(
            word for hunk in self.ledger.hunks(uri=URI) for word in WORD.findall(hunk.new)
        )
        return self._doubled | self._composed | {word for word, n in words.items() if n > 1}


def _reason(message: str) -> str:
    """Return the kind of a refusal."""
    for kind in ("changed the same lines", "being changed"):
        if kind in message:
            return kind
    return message


_BETWEEN = (
    "type", "type_near", "at_once", "replace_all", "propose", "accept", "reject", "amend",
    "undo_in_editor", "reopen", "reject_with_reason",
)  # fmt: skip
