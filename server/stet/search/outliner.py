"""Definitions by grammar, from a process that is killed if a text takes it too long.

A text for which a grammar has failed is cut by the look of its lines, like a text of a language
without a grammar.
"""

import logging
import time
from collections.abc import Sequence

from stet.outline.grammar_definitions import MAX_CHARACTERS, answer_outline, has_grammar
from stet.search.chunk import SourceFile
from stet.system.worker_process import WorkerEnded, WorkerProcess
from stet.text.document import ending_of

log = logging.getLogger(__name__)

_FUNCTION = f"{answer_outline.__module__}:{answer_outline.__name__}"
_MEMORY = 1_000_000_000
"""The limit of the address space in bytes."""
TEXT_SECONDS = 1.0
"""The time limit for one text; 400,000 characters of ordinary code take a tenth of it."""
START_SECONDS = 20.0
MAX_LOST = 20
"""After this many slow texts no grammar is used: they are malicious, or the machine is too slow."""
IDLE_SECONDS = 120.0
"""The time after which an idle process may be ended; starting it takes longer than most texts."""


class Outliner:
    """The owner of the process, which is started with the first text that has a grammar."""

    def __init__(self) -> None:
        """Create the owner without a process."""
        self._worker: WorkerProcess | None = None
        self._lost: set[bytes] = set()
        self._is_given_up = False
        self._used = 0.0

    @property
    def seconds_left(self) -> float | None:
        """The seconds until `release_idle` may end the process; None if no process runs."""
        if self._worker is None:
            return None
        return max(0.0, self._used + IDLE_SECONDS - time.monotonic())

    def add_outlines(self, sources: Sequence[SourceFile]) -> list[SourceFile]:
        """Return the sources in the same order, with their definitions if a grammar finds them.

        The result ends with the first text that took too long, so that a caller waits for at most
        one such text. Call this again with the remaining sources.
        """
        are_asked = [self._has_outline(source) for source in sources]
        worker = self._started() if any(are_asked) else None
        if worker is None:
            return list(sources)
        outlines = [
            worker.submit((source.text, ending_of(source.name))) if is_asked else None
            for source, is_asked in zip(sources, are_asked, strict=True)
        ]
        done: list[SourceFile] = []
        for source, outline in zip(sources, outlines, strict=True):
            try:
                found = None if outline is None else outline.result(TEXT_SECONDS)
            except (TimeoutError, WorkerEnded):
                self._drop_process(source)
                return [*done, source]
            done.append(source._replace(outline=found))
        self._used = time.monotonic()
        return done

    def release_idle(self) -> None:
        """End the process if it has been idle for `IDLE_SECONDS`."""
        if self.seconds_left == 0.0:
            self.close()

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def _has_outline(self, source: SourceFile) -> bool:
        return (
            not self._is_given_up
            and has_grammar(ending_of(source.name))
            and len(source.text) <= MAX_CHARACTERS
            and source.stamp.hash not in self._lost
        )

    def _started(self) -> WorkerProcess | None:
        """Return the process, started if necessary; None if it can't be started."""
        if self._worker is not None and not self._worker.has_ended:
            return self._worker
        self.close()
        self._worker = WorkerProcess(_FUNCTION, memory=_MEMORY)
        try:
            self._worker.submit(None).result(START_SECONDS)
        except (TimeoutError, WorkerEnded) as error:
            log.warning("no process asks grammars, files are cut by lines: %s", error)
            self._is_given_up = True
            self.close()
        return self._worker

    def _drop_process(self, source: SourceFile) -> None:
        self.close()
        self._lost.add(source.stamp.hash)
        log.warning("the grammar of %r timed out; the file is split by lines", source.name)
        if len(self._lost) == MAX_LOST:
            log.warning("it was the %sth: no grammar is asked any more", MAX_LOST)
            self._is_given_up = True
