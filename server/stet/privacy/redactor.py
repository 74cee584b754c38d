"""Replace secrets in text for a model by marks, and restore them.

    [redacted: AWS key #1]

A `Redactor` assigns each secret a separate mark for the whole process, so that text that is sent
again has the same bytes. A mark is a number: it reveals nothing of the secret. Only the redactor
knows the secret of a mark, and `restore` writes it only into a text that contains the secret
already: the file that the model is editing. Nothing is saved on the disk.

Lines stay lines (`stet.privacy.secrets`), so line numbers mean the same with and without marks.

Secrets that have been seen once are found again at any place, whole or in part. Pieces of each
secret are looked up at every offset of a text, so a text takes the same time for any number of
known secrets, and no secret is ever forgotten.
"""

import re
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from stet.text.edit import Replacement, TextEdit

LEAST = 8
"""The least characters of a secret that is searched for: a shorter one occurs by chance."""
_LEAST_PLAIN = 12
"""The same limit for a secret without digits or without letters."""
PART = 16
"""Characters of a part of a secret that identify it; the part may be anywhere in the secret."""
_STEP = PART - LEAST + 1
"""A part of `PART` characters holds a piece that begins at a multiple of this."""
_FEW = 64
"""The most pieces that are searched for one by one before every offset of a text is tried."""
_MOST_ALIKE = 32
"""The most secrets of one piece: a stranger may write a thousand that begin alike."""


Span = tuple[int, int, str]
"""Start and end of a secret in code points, and its kind."""


class KnownSecrets:
    """Secrets with their kinds, in the order in which they were added."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._order: list[str] = []
        self._pieces: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._kinds.items())

    def add(self, secret: str, kind: str) -> None:
        """Search for a secret from now on, unless it may occur by chance."""
        has_both = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
        if secret in self._kinds or len(secret) < (LEAST if has_both else _LEAST_PLAIN):
            return
        if secret.isalpha() or secret.isdigit():
            return
        self._kinds[secret] = kind
        self._order.append(secret)
        for at in _piece_starts(secret):
            alike = self._pieces[secret[at : at + LEAST]]
            alike.append((secret, at))
            if len(alike) > _MOST_ALIKE:
                del alike[0]

    def may_contain(self, text: str, since: int) -> bool:
        """Return whether a text may contain a secret that was added after the first `since`."""
        return any(
            secret[at : at + LEAST] in text
            for secret in self._order[since:]
            for at in _piece_starts(secret)
        )

    def find_spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and kind of the secrets in a text, and of long parts of secrets."""
        # Nearly always there are few pieces and none occurs: faster than to try every offset.
        if len(self._pieces) <= _FEW and not any(piece in text for piece in self._pieces):
            return
        after = 0
        for at in range(len(text) - LEAST + 1):
            alike = self._pieces.get(text[at : at + LEAST]) if at >= after else None
            for secret, piece in alike or ():
                start, end = _extend_match(text, at, secret, piece)
                if end - start >= min(PART, len(secret)):
                    yield start, end, self._kinds[secret]
                    after = max(after, end - LEAST + 1)


def _piece_starts(secret: str) -> list[int]:
    """Return the starts of a secret's pieces: each part of `PART` characters holds a piece."""
    last = len(secret) - LEAST
    return sorted({*range(0, last + 1, _STEP), last})


def _extend_match(text: str, at: int, secret: str, piece: int) -> tuple[int, int]:
    """Return start and end of the text that equals the secret around a piece."""
    n_before = 0
    while n_before < min(at, piece) and text[at - n_before - 1] == secret[piece - n_before - 1]:
        n_before += 1
    n = LEAST
    while piece + n < len(secret) and text[at + n : at + n + 1] == secret[piece + n]:
        n += 1
    return at - n_before, at + n


MARK = re.compile(r"\[redacted: (?P<kind>[A-Za-z][A-Za-z ]{0,40}) #(?P<number>[1-9]\d{0,8})\]")
"""The form of a mark."""

MARK_PREFIX = "[redacted: "
_LOOSE = re.compile(r"\[\s*redacted\s*:[^\]\r\n]{0,60}\]?", re.IGNORECASE)
_MAX_CACHED = 2_000_000
"""The most characters of redacted texts that are cached, to redact each text once."""
_MAX_LOOKS = 5
_LOOKBEHIND = 1000
"""Characters after a cut that are searched: a longer secret is recognized by its beginning."""
_NONE: Mapping[str, int] = MappingProxyType({})


class UnknownMark(Exception):
    """A mark that has no secret in the text; the message names the mark and the remedy."""


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text that may be sent.

    Attributes:
        text: The text, with marks in place of secrets.
        kinds: The number of secrets of each kind in the text.
    """

    text: str
    kinds: Mapping[str, int] = field(default_factory=lambda: _NONE)


class Redactor:
    """The secrets of one process and their marks; any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[str, str] = {}
        self._secrets: dict[str, str] = {}
        self._known = KnownSecrets()
        self._used: Counter[str] = Counter()
        self._reserved: set[str] = set()
        self._cache: OrderedDict[tuple[str, bool], tuple[RedactedText, int]] = OrderedDict()
        """Each redacted text, with the number of secrets that were known at the time."""
        self._n_cached = 0

    def redact(self, text: str, *, wrapped: bool = False) -> RedactedText:
        """Return a text with a mark instead of each secret.

        Takes about 0.1 ms for 1,000 characters the first time, next to nothing after that.

        Args:
            text: Any text.
            wrapped: Whether lines of encoded data count, for a piece of a text whose whole is not
                available.
        """
        key = (text, wrapped)
        with self._lock:
            if (cached := self._current(key)) is not None:
                return cached
        from stet.privacy.secrets import find_secrets  # late: its patterns take long to compile

        found = find_secrets(text, wrapped=wrapped)
        with self._lock:
            self._reserve_marks(text)
            redacted = RedactedText(text)
            for _ in range(_MAX_LOOKS):
                n_known = len(self._known)
                redacted = self._marked(text, found)
                if len(self._known) == n_known:
                    break  # otherwise a secret found now may occur at another offset of the text
            self._remember(key, redacted)
        return redacted

    def redact_halves(self, text: str, at: int) -> tuple[RedactedText, RedactedText] | None:
        """Return the text before and after an offset, redacted; secrets are found in the whole.

        Args:
            text: Any text.
            at: The offset in code points.

        Returns:
            The two halves; None if the offset is within a secret: a part of it may be too short to
            be recognised.
        """
        from stet.privacy.secrets import find_secrets  # late, as above

        self.redact(text)  # the secrets found now are known in both halves
        found = find_secrets(text)
        with self._lock:
            spans = self._with_known(text, found)
            if any(start < at < end for start, end, _ in spans):
                return None
            before = [span for span in spans if span[1] <= at]
            after = [(start - at, end - at, kind) for start, end, kind in spans if start >= at]
            return self._marked(text[:at], before), self._marked(text[at:], after)

    def excerpt(self, text: str, most: int) -> str:
        """Return the first `most` characters of a line, redacted, without cutting a secret in two.

        Args:
            text: The line or its beginning; a secret across the cut is searched for in the next
                thousand characters.
            most: The limit, counted before secrets are replaced.
        """
        redacted = self.redact(text[: most + _LOOKBEHIND]).text
        at = n_before = 0
        for mark in MARK.finditer(redacted):
            left = most - n_before
            if mark.start() - at >= left:
                break
            n_before += mark.start() - at + len(self._secrets.get(mark.group(), mark.group()))
            at = mark.end()
        return redacted[: at + max(0, most - n_before)]

    def secret_spans(self, text: str) -> list[tuple[int, int]]:
        """Find the positions of the secrets in a text.

        Args:
            text: Any text.

        Returns:
            Start and end of each secret, as offsets in code points, in order; overlapping secrets
            are one.
        """
        from stet.privacy.secrets import find_secrets  # late, as above

        self.redact(text)  # the secrets found now are known in other texts
        found = find_secrets(text)
        with self._lock:
            return [(start, end) for start, end, _ in self._with_known(text, found)]

    def _with_known(self, text: str, found: Sequence[Span]) -> Sequence[Span]:
        """Return `found` and the known secrets of a text, in order, overlaps as one."""
        from stet.privacy.secrets import merge_overlaps  # late, as above

        spans = (*found, *self._known.find_spans(text))
        return merge_overlaps(sorted(spans, key=lambda span: (span[0], -span[1])))

    def known(self) -> list[tuple[str, str]]:
        """Return all known secrets with their kinds, for another process of Stet."""
        with self._lock:
            return list(self._known)

    def add_known(self, secrets: Iterable[Sequence[str]]) -> None:
        """Add the secrets that `known` of another redactor returned."""
        with self._lock:
            for secret, kind in secrets:
                _ = self._mark(secret, kind)

    def learn(self, text: str) -> None:
        """Learn the secrets of a whole text, so that they are removed from any part of it."""
        self.redact(text)

    def learn_private_keys(self, text: str) -> None:
        """Learn only the private keys of a text; without private keys this costs almost nothing."""
        if "PRIVATE KEY" not in text:
            return
        from stet.privacy.secret_layouts import PRIVATE_KEY  # late, as above
        from stet.privacy.secrets import private_key_lines

        with self._lock:
            for line in private_key_lines(text):
                _ = self._mark(line, PRIVATE_KEY)

    def reserve_marks(self, texts: Iterable[str]) -> None:
        """Reserve the marks that occur in these texts: an earlier process assigned them."""
        with self._lock:
            for text in texts:
                self._reserve_marks(text)

    def first_known_mark(self, text: str) -> str:
        """Return the first mark in a text that represents a secret, or an empty text."""
        if MARK_PREFIX not in text:
            return ""
        found = (one.group() for one in MARK.finditer(text))
        return next((mark for mark in found if mark in self._secrets), "")

    def restore(self, text: str, file: str) -> str:
        """Return the model's text, with the secrets instead of their marks.

        Args:
            text: The text by the model.
            file: The text of the target file: only secrets that it contains are restored.

        Raises:
            UnknownMark: If a mark is not one of a secret in `file`, or the secret is ambiguous.
        """
        if MARK_PREFIX not in text:
            return text
        return MARK.sub(lambda mark: self._original(mark.group(), file), text)

    def _original(self, mark: str, file: str) -> str:
        secret = self._secrets.get(mark)
        is_there = secret is not None and secret in file
        if secret is not None and is_there and mark not in file:
            return secret
        if is_there:
            raise UnknownMark(
                f"{mark} can't be distinguished from the same words elsewhere in the file. Leave "
                "both as they are, and change what is around them."
            )
        if mark in file:
            return mark
        raise UnknownMark(
            f"{mark} stands for a secret that is not in this file, and a mark is never written. Quote "
            "marks of this file only, as you were shown them; the user must put in other secrets."
        )

    def _marked(self, text: str, found: Sequence[Span]) -> RedactedText:
        """Return a text with marks in place of `found` and of known secrets."""
        mark_text = [mark.span() for mark in MARK.finditer(text)] if MARK_PREFIX in text else []
        kinds: Counter[str] = Counter()
        marks: list[Replacement] = []
        for start, end, kind in self._with_known(text, found):
            if any(start < last and first < end for first, last in mark_text):
                continue  # a mark replaces it already
            marks.append(Replacement(start, end, self._mark(text[start:end], kind)))
            kinds[kind] += 1
        return RedactedText(TextEdit(tuple(marks)).apply(text), MappingProxyType(dict(kinds)))

    def _current(self, key: tuple[str, bool]) -> RedactedText | None:
        """Return the known redaction of a text, or None if the text contains a secret known since
        then.
        """
        cached = self._cache.get(key)
        if cached is None:
            return None
        redacted, n_known = cached
        if self._known.may_contain(key[0], since=n_known):
            return None
        self._cache[key] = redacted, len(self._known)
        self._cache.move_to_end(key)
        return redacted

    def _mark(self, secret: str, kind: str) -> str:
        """Return the mark of a secret; create the mark if necessary."""
        if (mark := self._marks.get(secret)) is not None:
            return mark
        while True:
            self._used[kind] += 1
            mark = f"[redacted: {kind} #{self._used[kind]}]"
            if mark not in self._reserved:
                break
        self._marks[secret] = mark
        self._secrets[mark] = secret
        self._known.add(secret, kind)
        return mark

    def _reserve_marks(self, text: str) -> None:
        if MARK_PREFIX in text:
            found = {mark.group() for mark in MARK.finditer(text)}
            self._reserved |= found - self._secrets.keys()

    def _remember(self, key: tuple[str, bool], redacted: RedactedText) -> None:
        if (old := self._cache.pop(key, None)) is not None:
            self._n_cached -= len(key[0]) + len(old[0].text)
        self._cache[key] = redacted, len(self._known)
        self._n_cached += len(key[0]) + len(redacted.text)
        while self._n_cached > _MAX_CACHED and len(self._cache) > 1:
            (text, _), (oldest, _) = self._cache.popitem(last=False)
            self._n_cached -= len(text) + len(oldest.text)


def new_marks(new: Iterable[str], known: str) -> str:
    """Return text that looks like a mark in the new texts and is not in `known`, or an empty text.

    Marks that a model has misspelt count too: no such text may be written.
    """
    texts = (text for text in new if "edacted" in text or "EDACTED" in text)
    marks = (found.group() for text in texts for found in _LOOSE.finditer(text))
    return next((mark for mark in marks if mark not in known), "")
