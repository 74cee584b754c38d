"""Whether letters follow each other as in words, or by chance.

Of the pairs of neighbours in words and names of programs three quarters are among the 140 that are the most
frequent there; of pairs that chance made, a fifth are. So a few letters tell words from keys, whatever
their case.
"""

import re
from itertools import pairwise

_FREQUENT = frozenset(  # of the names and words in the Python library
    re.findall(
        r"\w\w",
        """
    ab ac ad ag ai al am an ap ar as at au ay ba be bl bo bu ca ce ch ci ck cl co cr ct cu da de di do ds
    ea ec ed ef el em en ep er es et ev ex fa fe fi fo ge gr ha he hi ho ia ib ic id ie if ig il im in io
    ip ir is it ke la ld le li ll lo lt ma me mi mo mp na nc nd ne nf ng ni no ns nt ob oc od ol om on oo
    op or os ot ou pa pe pl po pr ra rc rd re ri ro rs rt ry sa sc se sh si so sp ss st su ta te th ti to
    tr ts tt tu ty ue ul um un up ur us ut va ve vi wi xt
    """,
    )
)
_LEAST_PAIRS = 6


def is_unspeakable(word: str, most: float = 0.5) -> bool:
    """Whether a word has pairs of letters, and few of them are frequent in words.

    Args:
        word: In ASCII, of any case; what is no letter parts its neighbours.
        most: The largest share of frequent pairs.
    """
    low = word.lower()
    pairs = [a + b for a, b in pairwise(low) if a.isalpha() and b.isalpha()]
    return len(pairs) >= _LEAST_PAIRS and sum(map(_FREQUENT.__contains__, pairs)) <= most * len(
        pairs
    )
