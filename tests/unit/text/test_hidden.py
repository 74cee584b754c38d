"""What a person can't see is told apart from what honest writing needs."""

import pytest

from stet.text.hidden import suspicion, visible

HONEST = [
    "plain\r\n\ttext\f\n",
    "Fa\u0308hre \u05d0\u200f\u05d1 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u2764\ufe0f \U0001f468\u200d\U0001f469\u200d\U0001f467 1\ufe0f\u20e3 \u2611\ufe0e",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f England",
    "\u0915\u094d\u200d\u0937 na\u00efve \u03b1 \u03b2x \u041f\u0440\u0438\u0432\u0435\u0442, admin \u03bcs",
    "\ufeffwith a mark at the top",
]
DECEIVING = [
    "vic\U000e0061tim", "if \u202e\u2066x", "a\u200bb", "ad\u200dmin", "ad\u200cmin", "x\ufe0f", "y\ufe00",
    "\u3164 = 1", "a\uffa0", "a\u2060b", "text\ufeff", "a \u200d\u200c\u200d", "\u2764\ufe0f\ufe0f",
    "\U000e0101", "\x1b[8m", "a\x08", "\u0430dmin", "pass\u0445ord", "adm\u0456n", "st\u03bfp",
    "\U0001f3f4\U000e0067",
]  # fmt: skip


@pytest.mark.parametrize("text", HONEST, ids=ascii)
def test_honest_writing_is_not_suspected(text: str) -> None:
    assert suspicion([text], []) == ""


@pytest.mark.parametrize("text", DECEIVING, ids=ascii)
def test_what_deceives_is_suspected_and_may_stay_where_it_stands(text: str) -> None:
    assert suspicion([text], []) != ""
    assert suspicion([text], [text]) == ""
    assert suspicion([text, text], [text]) != ""


def test_what_carries_sentences_is_shown_as_its_escapes() -> None:
    assert visible("a\u202eb\U000e0041c\u200b") == "a\\u202eb\\U000e0041c\u200b"
    assert visible(HONEST[3]) == HONEST[3]
