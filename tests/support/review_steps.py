"""The steps of a check in pictures (`tests.support.review_pictures`) that are no typing at the
cursor.

A step is a function that takes the harness: an action of the user, the editor or the agent.
"""

from collections.abc import Callable

from stet.text.diff import changes_between
from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import Action, PicturedReview


def accept(*hunk_ids: str) -> Action:
    """Accept hunks in one edit, all pending hunks by default."""
    return lambda page: page.accept(*hunk_ids)


def undo(page: ReviewHarness) -> None:
    """Undo all accepted hunks through Stet."""
    page.send_back()


def send(*hunk_ids: str) -> Action:
    """Send the edit of hunks, all pending hunks by default; the editor has not applied the edit."""
    return lambda page: page.send(*hunk_ids)


def give_up(page: ReviewHarness) -> None:
    """End the wait for the text of the edit that was sent."""
    page.unsend()


def reject(hunk_id: str) -> Action:
    """Reject a hunk."""
    return lambda page: page.ledger.reject(hunk_id)


def restore(hunk_id: str) -> Action:
    """Restore a hunk that is rejected or undone."""
    return lambda page: page.ledger.restore(hunk_id)


def amend(hunk_id: str, new: str) -> Action:
    """Replace the text that a pending hunk writes."""
    return lambda page: page.ledger.amend(hunk_id, new)


def take_theirs(hunk_id: str) -> Action:
    """End a conflict with the agent's text."""
    return lambda page: page.ledger.take_theirs(hunk_id)


def propose(new: str, turn: str = "t9") -> Action:
    """Propose `new` as the whole text."""
    return lambda page: page.propose(new, turn)


def replace_text(text: str) -> Action:
    """Replace the whole text, as an editor that sends no ranges."""
    return lambda page: page.replace(text)


def report_difference(text: str) -> Action:
    """Change the document to `text` by the smallest changes, in one message."""
    return lambda page: page.apply(*changes_between(page.text, text))


def change_lines(*changes: tuple[int, int, str]) -> Action:
    """Change whole lines in one message, each by first line (0-based), end line (excluded) and
    new text.
    """
    return lambda page: page.apply_lines(*changes)


def reopen(page: ReviewHarness) -> None:
    """Close the document and open it again with its current text."""
    page.reopen(page.text)


def restart(page: ReviewHarness) -> None:
    """Restart the server, which opens the document with its current text."""
    page.restart()


def editor_undo(page: ReviewHarness) -> None:
    """Undo the last step that changed the text, in the editor, which sends the whole text."""
    assert isinstance(page, PicturedReview)
    page.redo_texts.append(page.text)
    page.replace(page.undo_texts.pop())


def editor_redo(page: ReviewHarness) -> None:
    """Redo in the editor what `editor_undo` undid last."""
    assert isinstance(page, PicturedReview)
    page.undo_texts.append(page.text)
    page.replace(page.redo_texts.pop())


def expect(condition: Callable[[ReviewHarness], object]) -> Action:
    """Check what a picture does not show."""

    def check(page: ReviewHarness) -> None:
        assert condition(page)

    return check


def accept_whole(page: ReviewHarness) -> None:
    """Accept all pending hunks in one edit, of which the editor reports the whole text."""
    page.replace(page.send())
