"""A yes is to what was shown: whether a hunk still takes no more of the user's text than then."""

from collections import Counter

from stet.review.proposal import Hunk
from stet.text.merge import TOKEN


def exceeds_approval(now: Hunk, approved: Hunk) -> bool:
    """Whether a hunk of lines takes away words or signs that it did not take when the user agreed.

    What the user types beside or within it is in what it writes as well, so it takes no more by that.
    It does where the text has become another: a deletion of lines that were gone already stands on
    them again once the file is closed unsaved.

    Args:
        now: As it would be carried out.
        approved: As it was when the user said yes.
    """
    if (now.old, now.new) == (approved.old, approved.new):
        return False
    return not _removed_tokens(now) <= _removed_tokens(approved)


def _removed_tokens(hunk: Hunk) -> Counter[str]:
    return _tokens(hunk.old) - _tokens(hunk.new)


def _tokens(text: str) -> Counter[str]:
    return Counter(token for token in TOKEN.findall(text) if not token.isspace())
