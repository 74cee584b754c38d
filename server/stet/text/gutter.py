r"""The line numbers of `stet.text.render`, copied by a model into the text it sends back."""

import re

from stet.text.match_errors import Unclear

_GUTTER = re.compile(r" *([0-9]{1,9})\t")


def without_gutter(old_text: str, new_text: str) -> tuple[str, str] | None:
    r"""Both texts without line numbers; None if the old text does not carry them.

    It does if *all* its lines begin with a number and a tab and the numbers count up by one. The
    new text loses its numbers where all its lines have them.

    Raises:
        Unclear: Only some lines of the new text have numbers.
    """
    old_lines, new_lines = _lines(old_text), _lines(new_text)
    numbers = [_number(line) for line in old_lines]
    first = numbers[0]
    if first is None or numbers != list(range(first, first + len(numbers))):
        return None
    n_marked = sum(_number(line) is not None for line in new_lines)
    if n_marked not in {0, len(new_lines)}:
        raise Unclear(
            f"{n_marked} of {len(new_lines)} lines of the new text begin with a line number. "
            "Send both texts without line numbers."
        )
    return _stripped(old_text), _stripped(new_text) if n_marked else new_text


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _number(line: str) -> int | None:
    found = _GUTTER.match(line)
    return int(found[1]) if found else None


def _stripped(text: str) -> str:
    end = "\n" if text.endswith("\n") else ""
    return "\n".join(line.partition("\t")[2] for line in _lines(text)) + end
