"""Minimum scores of search on the sources of this project, so that a worse change is noticed.
`tests/eval/scores.md` has the scores on much more text.
"""

from pathlib import Path

import pytest

import stet
from tests.eval.arms import HYBRID, PLAIN, WORDS
from tests.eval.docstrings import Docstrings
from tests.eval.measuring import measured

FOLDERS = ("text", "system", "workspace", "review")
N_QUESTIONS = 100
"""The number of questions of each half."""


@pytest.mark.timeout(60)
def test_docstring_search_is_better_than_word_search_alone() -> None:
    sources = Path(stet.__file__).parent
    folders = tuple(sources / name for name in FOLDERS)
    scores = measured([Docstrings(folders)], N_QUESTIONS).scores

    reached = {
        arm: (scores.mrr(arm, held=True) + scores.mrr(arm, held=False)) / 2
        for arm in (HYBRID, WORDS, PLAIN)
    }
    assert reached[HYBRID] > 0.24, reached
    assert reached[HYBRID] >= reached[WORDS] > reached[PLAIN], reached
