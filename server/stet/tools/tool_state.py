"""The states of a tool call as a state machine; the names of the states are public.

    reads     booting → init → completed
    writes    booting → init → waitingForUserInput → submitted → completed
    control   either: `done` ends at once, `ask_user` waits for the user

Each call may end in `error`, and all but reads in `canceled`. `booting`: the model has made the
call, and the call has not started. `init`: the call runs; a tool that writes resolves its edit in
this state and proposes the edit as its last step, so that a call stopped earlier has proposed
nothing. `waitingForUserInput`: the call waits for an answer, which blocks the loop, or for the
review of its proposal, which does not block.

The ledger owns the state of a proposal, so the state is read from the ledger each time
(`state_after_review`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from types import MappingProxyType

from stet.review.proposal import OPEN, HunkState


class ToolState(StrEnum):
    """The state of a tool call."""

    BOOTING = "booting"
    INIT = "init"
    WAITING = "waitingForUserInput"
    SUBMITTED = "submitted"
    COMPLETED = "completed"
    ERROR = "error"
    CANCELED = "canceled"


class ToolKind(Enum):
    """The kind of a tool, which determines the states of its calls."""

    READ = "read"
    WRITE = "write"
    CONTROL = "control"
    """The tool controls the turn; it can't be disabled."""


class IllegalTransition(Exception):
    """A call can't go from its state to the given state: a bug of the caller."""


_B, _I, _W, _S = ToolState.BOOTING, ToolState.INIT, ToolState.WAITING, ToolState.SUBMITTED
_DONE, _ERROR, _CANCELED = ToolState.COMPLETED, ToolState.ERROR, ToolState.CANCELED
_WRITE: Mapping[ToolState, frozenset[ToolState]] = {
    _B: frozenset({_I, _ERROR, _CANCELED}),
    _I: frozenset({_W, _ERROR, _CANCELED}),
    _W: frozenset({_S, _ERROR, _CANCELED}),
    # Back to waiting: a tool may ask a second question.
    _S: frozenset({_DONE, _W, _ERROR, _CANCELED}),
}
TRANSITIONS: Mapping[ToolKind, Mapping[ToolState, frozenset[ToolState]]] = MappingProxyType(
    {
        ToolKind.READ: {_B: frozenset({_I, _ERROR}), _I: frozenset({_DONE, _ERROR})},
        ToolKind.WRITE: _WRITE,
        ToolKind.CONTROL: {**_WRITE, _I: _WRITE[_I] | {_DONE}},
    }
)
"""The states that may follow a state, by kind; the states without an entry are final."""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One call of a tool, as `stet.turn` reports it.

    Attributes:
        id: The provider's id; not a key, as some providers use the same ids in every round.
        tool: The name of the tool, as the model wrote it.
        state: The state known to the loop (see `state_after_review`).
        file: The file that the call names, if it names one.
        error: The error for the state `error`, or why the call was canceled.
        course: The kind of the tool, which determines the sequence of states.
        hunks: Ids of the proposed hunks; calls that were executed as one share their hunks.
        answer_length: The length of the turn's answer, in code points, when the call was made.
    """

    id: str
    tool: str
    state: ToolState = ToolState.BOOTING
    file: str = ""
    error: str = ""
    course: ToolKind = ToolKind.READ
    hunks: tuple[str, ...] = ()
    answer_length: int = 0

    def can_transition_to(self, state: ToolState) -> bool:
        """Return whether `state` may follow the present state."""
        return state in TRANSITIONS[self.course].get(self.state, frozenset())

    def transition_to(self, state: ToolState, error: str = "") -> "ToolRun":
        """Return the call in the state `state`.

        Raises:
            IllegalTransition: If `state` may not follow the present state.
        """
        if not self.can_transition_to(state):
            raise IllegalTransition(
                f"{self.tool!r} ({self.course.value}) can't go from {self.state} to {state}"
            )
        return replace(self, state=state, error=error)

    def completed_with(self, hunks: tuple[str, ...]) -> "ToolRun":
        """Return the call after the tool has run and proposed `hunks`.

        A call without hunks is completed, as there is nothing to review.
        """
        run = replace(self, hunks=hunks)
        if run.can_transition_to(ToolState.COMPLETED) and not hunks:
            return run.transition_to(ToolState.COMPLETED)
        if run.state is ToolState.SUBMITTED or run.course is ToolKind.READ:
            return run
        run = run.transition_to(ToolState.WAITING)
        if hunks:
            return run
        return run.transition_to(ToolState.SUBMITTED).transition_to(ToolState.COMPLETED)

    def stopped(self, why: str) -> "ToolRun":
        """Return the call after the end of the turn: an unfinished call is canceled or failed."""
        if self.state not in TRANSITIONS[self.course] or self.hunks:
            return self
        canceled = self.can_transition_to(ToolState.CANCELED)
        return self.transition_to(ToolState.CANCELED if canceled else ToolState.ERROR, why)


def state_after_review(run: ToolRun, states: Collection[HunkState]) -> ToolState:
    """Return the state of a call whose hunks are in `states`, according to the user's decisions."""
    if not states or run.state not in {ToolState.WAITING, ToolState.SUBMITTED}:
        return run.state
    if any(state in OPEN for state in states):
        return ToolState.WAITING
    if HunkState.SENT in states:
        return ToolState.SUBMITTED
    if any(state in {HunkState.ACCEPTED, HunkState.UNDONE} for state in states):
        return ToolState.COMPLETED
    return ToolState.CANCELED
