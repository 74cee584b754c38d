"""Editors' faults in changes: E6 to E9 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.fault_scene import TEXT, at_fault
from tests.support.raw_peer import changed, replaced
from tests.support.splices import Splice, as_change, spliced

PAST, FAR = 2**31, 2**53
CHANGES: dict[str, Sequence[Splice]] = {
    "E7 many changes in one": [(0, n % 4, 0, n % 4, "ab"[n % 2]) for n in range(1000)],
    "E7 each relative to the last": [(0, 0, 1, 0, ""), (0, 0, 0, 3, "x\ny"), (1, 0, 1, 1, "z")],
    "E8 a reversed range": [(0, 3, 0, 0, "ONE"), (1, 2, 0, 1, "!")],
    "E8 negative": [(-1, -5, 0, 1, "O"), (-(2**31), 0, -1, 0, "+")],
    "E8 above 2^31": [(0, PAST, 0, PAST + 1, "!"), (PAST, 0, PAST, PAST, ".\n")],
    "E8 above 2^53": [(0, FAR, 0, FAR + 1, "!"), (FAR, FAR, FAR, FAR, ".\n")],
    "E8 above 2^64": [(0, 2**64, 0, 2**70, "!"), (2**64, 0, 2**90, 0, ".\n")],
    "E9 past the end of a line": [(0, 4, 0, 9, "!"), (1, 99, 1, 99, "!")],
    "E9 past the end of the file": [(4, 0, 9, 0, "five\n"), (99, 0, 99, 9, "six")],
}


@pytest.mark.parametrize("splices", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("together", [True, False], ids=["in one message", "one by one"])
async def test_ranges_of_any_kind_lead_to_the_same_text(
    root: Path, splices: Sequence[Splice], together: bool
) -> None:
    async with at_fault(root) as scene:
        changes = [as_change(splice) for splice in splices]
        if together:
            scene.send(changed(scene.uri, 2, *changes))
        else:
            scene.send(*(changed(scene.uri, 2, change) for change in changes))
        scene.reads(spliced(TEXT, *splices), version=2)
        await scene.survives()


async def test_e6_whole_texts_and_ranges_mixed_in_one_notification(root: Path) -> None:
    async with at_fault(root) as scene:
        scene.send(
            changed(
                scene.uri,
                2,
                replaced((0, 0), (2, 0), "lost"),
                {"text": "zero\n" + TEXT},
                replaced((0, 0), (0, 4), "null"),
                {"range": None, "text": "zero\n" + TEXT, "rangeLength": 7},
                {**replaced((1, 0), (1, 3), "eins"), "rangeLength": 99},
            )
        )
        scene.reads("zero\neins\ntwo\nthree\nfour\n", version=2)
        await scene.survives()
