"""Positions and characters of texts on the wire: clamped, counted, unchanged."""

import pytest

from tests.support.raw_peer import changed, connected, opened, replaced

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_positions_out_of_range_are_clamped_and_reversed_ranges_turned() -> None:
    async with connected() as peer:
        peer.send(
            opened("file:///a", "one\ntwo"),
            changed("file:///a", 1, replaced((0, 2**53), (0, 2**31), "!")),
            changed("file:///a", 0, replaced((7, 0), (2**53, 9), ".")),
            changed(
                "file:///a", -4, replaced((0, 1), (0, 0), "O"), replaced((-3, -1), (0, 0), ">")
            ),
        )
        assert await peer.text() == ">One!\ntwo."


async def test_form_feeds_and_other_lookalikes_do_not_end_lines() -> None:
    async with connected() as peer:
        peer.send(
            opened("file:///a", "a\fb\u2028c\x85d\rsecond\n"),
            changed("file:///a", 2, replaced((1, 0), (1, 6), "X")),
        )
        assert await peer.text() == "a\fb\u2028c\x85d\rX\n"


@pytest.mark.parametrize(
    ("offered", "columns"), [(["utf-8", "utf-16"], (4, 5)), (["utf-32"], (1, 2)), (None, (2, 3))]
)
async def test_columns_are_counted_in_the_encoding_agreed_on(
    offered: list[str] | None, columns: tuple[int, int]
) -> None:
    async with connected(initialized=False) as peer:
        result = await peer.initialize(general={"positionEncodings": offered} if offered else {})
        assert result["capabilities"]["positionEncoding"] == (offered or ["utf-16"])[0]
        first, second = columns
        peer.send(
            opened("file:///a", "𝄞xy"),
            changed("file:///a", 2, replaced((0, first), (0, second), "z")),
        )
        assert await peer.text() == "𝄞zy"


async def test_lone_surrogates_and_nul_come_back_as_they_went() -> None:
    async with connected() as peer:
        peer.send(opened("file:///a", "\ud800 \x00 \udfff"))
        assert await peer.text() == "\ud800 \x00 \udfff"
