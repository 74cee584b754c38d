"""Definitions by grammar, asked of a process that is ended when a text keeps it too long.

What a grammar was asked about, and in vain, is cut by the look of its lines, as are texts of
languages without one.
"""

import logging
import time
from collections.abc import Sequence

from stet.outline.grammar_definitions import MAX_CHARACTERS, has_grammar
from stet.search.chunk import SourceFile
from stet.search.outline_helper import NO_OUTLINE
from stet.search.piped_process import PipedProcess, ProcessEnded
from stet.text.document import ending_of

log = logging.getLogger(__name__)

_MODULE = "stet.search.outline_helper"
TEXT_SECONDS = 1.0
"""How long a grammar may take for a text; 400,000 characters of ordinary code take a tenth."""
START_SECONDS = 20.0
MAX_LOST = 20
"""So many slow texts are enough: they are malicious, or the machine is too slow."""
IDLE_SECONDS = 120.0
"""The process is kept so long for the next text: starting it takes longer than most texts."""


class Outliner:
    """The process, as its owner sees it; started with the first text that has a grammar."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._process: PipedProcess | None = None
        self._lost: set[bytes] = set()
        self._is_given_up = False
        self._used = 0.0

    @property
    def seconds_left(self) -> float | None:
        """When `release_idle` may end the process; None where none runs."""
        if self._process is None:
            return None
        return max(0.0, self._used + IDLE_SECONDS - time.monotonic())

    def add_outlines(self, sources: Sequence[SourceFile]) -> list[SourceFile]:
        """Return the sources in the same order, with their definitions if a grammar finds them.

        The result ends with the first text that took too long, so that a caller waits for at most
        one such text; give the remaining sources again.
        """
        asked = [source for source in sources if self._has_outline(source)]
        if not asked or not self._start():
            return list(sources)
        assert self._process is not None, "it has just been started"
        self._process.send([(source.text, ending_of(source.name)) for source in asked])
        waited = {source.uri for source in asked}
        done: list[SourceFile] = []
        for source in sources:
            if source.uri not in waited:
                done.append(source)
                continue
            try:
                found = self._process.receive(TEXT_SECONDS)
            except (TimeoutError, ProcessEnded):
                self._drop_process(source)
                return [*done, source]
            done.append(source if found == NO_OUTLINE else source._replace(outline=found))
        self._used = time.monotonic()
        return done

    def release_idle(self) -> None:
        """End the process if it has had nothing to do for long."""
        if self.seconds_left == 0.0:
            self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _has_outline(self, source: SourceFile) -> bool:
        return (
            not self._is_given_up
            and has_grammar(ending_of(source.name))
            and len(source.text) <= MAX_CHARACTERS
            and source.stamp.hash not in self._lost
        )

    def _start(self) -> bool:
        """Start the process where it does not run; whether it runs."""
        if self._process is not None and not self._process.has_ended:
            return True
        self.close()
        try:
            self._process = PipedProcess(_MODULE)
            self._process.receive(START_SECONDS)
        except (OSError, TimeoutError, ProcessEnded):
            log.warning("the process that asks grammars can't be started; files are cut by lines")
            self._is_given_up = True
            self.close()
        return not self._is_given_up

    def _drop_process(self, source: SourceFile) -> None:
        self.close()
        self._lost.add(source.stamp.hash)
        log.warning("the grammar of %r was given up; the file is cut by its lines", source.name)
        if len(self._lost) == MAX_LOST:
            log.warning("it was the %sth: no grammar is asked any more", MAX_LOST)
            self._is_given_up = True
