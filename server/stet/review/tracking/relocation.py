"""Where the lines of a hunk stand that it has lost sight of."""

from collections.abc import Sequence

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.line_span import is_distinctive
from stet.text.lines import whole_lines, without_end
from stet.text.sequence import find_line_runs


def relocate(anchor: Anchor, lines: Sequence[str]) -> tuple[int, int] | None:
    """Where all that an anchor was made against stands in a text, whatever its line ends, if that is
    beyond doubt.

    None if it says too little, stands there more than once, or is a place between lines.
    """
    wanted = _with_one_end(whole_lines(anchor.base))
    if anchor.is_gap or not is_distinctive(wanted):
        return None
    places = find_line_runs(_with_one_end(lines), wanted)
    return (places[0], places[0] + len(wanted)) if len(places) == 1 else None


def _with_one_end(lines: Sequence[str]) -> list[str]:
    return [f"{without_end(line)}\n" for line in lines]
