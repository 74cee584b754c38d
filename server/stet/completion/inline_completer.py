"""The owner of the completion model: what is sent to it, and what of its answer is offered.

A request passes the privacy filter and the redactor, as all text for a model does; it is recorded
in the request log. What the user types of a completion that was offered needs no other request.
After a failure the server is left alone for a while, and the user is informed once.
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from stet.completion.cursor_context import CursorContext, cut_context
from stet.completion.middle import fit, is_one_line
from stet.llm.model import ModelError, ModelTimeout, estimate_tokens
from stet.privacy.redactor import MARK_PREFIX, RedactedText, new_marks
from stet.privacy.request_log import Recipient, RequestLog, RequestRecord
from stet.settings.values import CompletionSettings
from stet.system.system import System
from stet.text.document import TextDocument
from stet.text.position import Range
from stet.text.spoofing import describe_spoofing, escape_special_tokens, unescape_special_tokens
from stet.workspace.snapshot import NotShown, Snapshot

if TYPE_CHECKING:
    from stet.llm.fill_in_middle import FillInMiddleModel, FillRequest

DEBOUNCE_SECONDS = 0.1
"""The time without another keystroke after which a request is sent."""
MAX_DEBOUNCE_SECONDS = 1.0
_DEBOUNCE_SHARE = 0.25
"""The same for a slow model, as a share of the time to its first word: llama.cpp reads a prompt to
its end even if the request was cancelled meanwhile.
"""
GENERATION_SECONDS = 2.0
"""The time for the lines after the first one: a slow model's first line is offered alone."""
SLOW_SECONDS = 2.0
"""The time to the first word after which half the text around the cursor is sent from then on."""
LEAST_TOKENS = 256
"""The least text around the cursor that a slow model is sent, in tokens."""
RETRY_SECONDS = 30.0
"""The time after a failure in which nothing is sent."""
NO_ADDRESS = (
    "Inline completion is on, but completion.baseUrl is not set: set it to the address of a server "
    "with a fill-in-the-middle model, such as 'http://127.0.0.1:8080' for llama.cpp."
)
TOO_SLOW = (
    "Set a smaller completion.contextTokens, or choose a smaller model or a faster machine "
    "for completion.baseUrl."
)


@dataclass(frozen=True, slots=True)
class CursorPlace:
    """The place of a completion.

    Attributes:
        uri: The URI of the document.
        replaced: The range of the editor's text that `inserted` replaces; it ends at the cursor, on
            one line.
        inserted: A text that the editor will insert before the completion.
    """

    uri: str
    replaced: Range
    inserted: str = ""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The text around the cursor, as it is and as it is sent."""

    context: CursorContext
    before: RedactedText
    after: RedactedText
    file: str


@dataclass(frozen=True, slots=True)
class _Offer:
    """A completion and the text around the cursor that it was made for."""

    uri: str
    context: CursorContext
    text: str

    def rest(self, uri: str, context: CursorContext) -> str | None:
        """Return what is left of the completion after its first characters were typed; None if the
        text differs.
        """
        old = self.context
        if (uri, context.first_line) != (self.uri, old.first_line) or context.suffix != old.suffix:
            return None
        if not context.prefix.startswith(old.prefix):
            return None
        typed = context.prefix[len(old.prefix) :]
        if typed and len(typed) >= len(self.text):
            return None
        return self.text[len(typed) :] if self.text.startswith(typed) else None


class InlineCompleter:
    """The completion model in use and its latest completion; used on the event loop only.

    Attributes:
        problem: Why the latest request failed, as a sentence; "" if it did not.
    """

    def __init__(
        self,
        system: System,
        request_log: RequestLog,
        report: Callable[[str], None],
        tracer: Callable[[], Callable[[str], None] | None] = lambda: None,
    ) -> None:
        """Create the completer; nothing is sent yet.

        Args:
            system: The environment and the clock.
            request_log: The log that records each request.
            report: A function that shows a problem to the user.
            tracer: Returns the blocking function that writes a trace, or None for no trace.
        """
        self._tracer = tracer
        self.problem = ""
        self._system = system
        self._request_log = request_log
        self._report = report
        self._settings = CompletionSettings()
        self._model: FillInMiddleModel | None = None
        self._offer: _Offer | None = None
        self._reported: set[str] = set()
        self._quiet_until = 0.0
        self._n_tokens = self._settings.context_tokens
        self._debounce = DEBOUNCE_SECONDS

    async def complete(self, snapshot: Snapshot, place: CursorPlace, *, delay: bool) -> str:
        """Return the text to insert at the cursor; "" for nothing to offer.

        Args:
            snapshot: The workspace as it is now.
            place: The place of the cursor.
            delay: Whether to wait for another keystroke first, which cancels the call.
        """
        if not await self._is_ready(snapshot.settings.completion):
            return ""
        prepared = await asyncio.to_thread(_prepare, snapshot, place, self._n_tokens)
        if prepared is None:
            return ""
        offer = self._offer
        rest = offer.rest(place.uri, prepared.context) if offer is not None else None
        if rest is not None:
            return rest
        if self._system.monotonic() < self._quiet_until:
            return ""
        if delay:
            await asyncio.sleep(self._debounce)
        try:
            text = await self._ask(prepared, is_open=not snapshot.settings.privacy.redact_secrets)
        except ModelError as error:
            self._fail(f"Inline completion: {error}")
            return ""
        self.problem = ""
        self._offer = _Offer(place.uri, prepared.context, text)
        return text

    async def _is_ready(self, settings: CompletionSettings) -> bool:
        """Use these settings from now on; return whether there is a model to ask."""
        if settings != self._settings:
            await self.close()
            self._settings = settings
            self._n_tokens = settings.context_tokens
            self._debounce = DEBOUNCE_SECONDS
        if settings.enabled and not settings.base_url:
            self._fail(NO_ADDRESS)
        return settings.enabled and bool(settings.base_url)

    async def close(self) -> None:
        """Close the model's connections, and forget its completions and problems."""
        model, self._model, self._offer = self._model, None, None
        self.problem, self._quiet_until = "", 0.0
        self._reported.clear()
        if model is not None:
            await model.close()

    def _fail(self, problem: str) -> None:
        """Record a problem, show it once, and send nothing for a while."""
        self.problem = problem
        self._quiet_until = self._system.monotonic() + RETRY_SECONDS
        if problem not in self._reported:
            self._reported.add(problem)
            self._report(problem)

    async def _ask(self, prepared: _Prepared, *, is_open: bool) -> str:
        """Send a request and return the part of its answer that is offered.

        Raises:
            ModelError: If the model does not answer.
        """
        if self._model is None:
            self._model = await asyncio.to_thread(_open_model, self._settings, self._system)
        from stet.llm.fill_in_middle import FillRequest  # late, as in `_open_model`

        context = prepared.context
        request = FillRequest(
            escape_special_tokens(prepared.before.text),
            escape_special_tokens(prepared.after.text),
            self._settings.max_tokens,
            one_line=is_one_line(context),
        )
        self._log_request(self._model, request, prepared, is_open=is_open)
        who = f"the completion model {self._model.name} at {self._model.host}"
        await self._trace(f"to {who}", asdict(request))
        watch = _AnswerWatch(context, self._system.monotonic)
        try:
            answer = await self._model.fill(request, watch.is_complete)
        except ModelTimeout as error:
            self._adapt(math.inf)
            raise ModelTimeout(f"{error} {TOO_SLOW}") from error
        await self._trace(f"from {who}", answer)
        if answer:
            self._adapt(watch.seconds_to_first)
        if watch.is_late:
            answer = answer.rpartition("\n")[0]  # its last line may lack its end
        return _offered(answer, context)

    async def _trace(self, what: str, value: object) -> None:
        if (write := self._tracer()) is not None:
            text = f"{what}: {json.dumps(value, ensure_ascii=False, indent=1)}"
            await asyncio.to_thread(write, text)

    def _adapt(self, seconds: float) -> None:
        """Adapt to the time to the first word: send less, and wait longer before a request."""
        if seconds > SLOW_SECONDS:
            self._n_tokens = max(min(self._n_tokens, LEAST_TOKENS), self._n_tokens // 2)
        longest = min(MAX_DEBOUNCE_SECONDS, seconds * _DEBOUNCE_SHARE)
        self._debounce = max(DEBOUNCE_SECONDS, longest)

    def _log_request(
        self,
        model: "FillInMiddleModel",
        request: "FillRequest",
        prepared: _Prepared,
        *,
        is_open: bool,
    ) -> None:
        context = prepared.context
        kinds = Counter(prepared.before.kinds) + Counter(prepared.after.kinds)
        n_characters = len(request.prefix) + len(request.suffix)
        lines = f"lines {context.first_line + 1}-{context.last_line + 1}"
        self._request_log.add(
            RequestRecord(
                self._system.now(),
                Recipient.COMPLETION,
                model.host,
                model.name,
                parts=(f"file {prepared.file} {lines}",),
                characters=n_characters,
                tokens=estimate_tokens(request.prefix) + estimate_tokens(request.suffix),
                kinds=tuple(sorted(kinds.items())),
                is_open=is_open,
            )
        )


def _open_model(settings: CompletionSettings, system: System) -> "FillInMiddleModel":
    from stet.llm.fill_in_middle import FillInMiddleModel  # late: most users have no completions

    return FillInMiddleModel(settings, system)


class _AnswerWatch:
    """The decision when an answer needs no continuation.

    Attributes:
        is_late: Whether the answer was ended because the model is slow.
        seconds_to_first: The time from the request to its first word.
    """

    def __init__(self, context: CursorContext, monotonic: Callable[[], float]) -> None:
        self.is_late = False
        self.seconds_to_first = 0.0
        self._begin = monotonic()
        self._context = context
        self._monotonic = monotonic
        self._end = 0.0

    def is_complete(self, text: str) -> bool:
        """Return whether the text so far is all that is needed."""
        now = self._monotonic()
        if not self._end:
            self.seconds_to_first = now - self._begin
            self._end = now + GENERATION_SECONDS
        if fit(text, self._context).is_complete:
            return True
        self.is_late = now > self._end and "\n" in text.lstrip()
        return self.is_late


def _prepare(snapshot: Snapshot, place: CursorPlace, n_tokens: int) -> _Prepared | None:
    """Return about `n_tokens` tokens that may be sent; None if the file, or the text at the cursor,
    may not.

    Blocking: it checks links on the disk, and searches for secrets.
    """
    # Typing in a file is no question about it: a file that git ignores is not sent.
    snapshot = snapshot.asked_about(None)
    try:
        document = snapshot.show(place.uri)
    except NotShown:
        return None
    replaced = _plain_range(snapshot, document, place)
    if replaced is None:
        return None
    context = cut_context(document.lines, replaced, n_tokens, inserted=place.inserted)
    name = snapshot.name_of(place.uri)
    if not snapshot.settings.privacy.redact_secrets:
        before, after = RedactedText(context.prefix), RedactedText(context.suffix)
        return _Prepared(context, before, after, name)
    if document.is_large:
        snapshot.learn_around(document, context.first_line, context.last_line + 1)
    else:
        snapshot.learn_around(document, 0, len(document.lines))
    redactor = snapshot.redactor
    halves = redactor.redact_halves(context.prefix + context.suffix, len(context.prefix))
    if halves is None:
        return None
    return _Prepared(context, *halves, redactor.redact(name).text)


def _plain_range(snapshot: Snapshot, document: TextDocument, place: CursorPlace) -> Range | None:
    """Return the replaced range in the text without blocks of proposals; None within a block."""
    real = snapshot.document(place.uri)
    if real is None:
        return None
    replaced = Range(real.clamp(place.replaced.start), real.clamp(place.replaced.end))
    plain = snapshot.shown_range(real, replaced)
    first, _ = snapshot.real_lines(real, plain.start.line, plain.start.line + 1)
    if first != replaced.start.line or plain.start.line != plain.end.line:
        return None
    return Range(document.clamp(plain.start), document.clamp(plain.end))


def _offered(answer: str, context: CursorContext) -> str:
    """Return the part of an answer that may be inserted; "" if it must not be."""
    shown = fit(answer, context).text
    text = unescape_special_tokens(shown)
    if escape_special_tokens(text) != shown:
        return ""  # control tokens or invisible characters that are not quoted from the file
    if MARK_PREFIX in text or new_marks([text], known=""):
        return ""
    return "" if describe_spoofing([text], [context.prefix, context.suffix]) else text
