"""The speed of a model that is not installed."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet.llm.embedded.speed import measure_shape, measure_speed
from stet.llm.embedded.speed_probe import FEW, extrapolate
from stet.llm.weights.catalog import MEDIUM, SMALL, CatalogModel
from stet.llm.weights.local_model import LocalModel
from stet.system.system import System
from tests.support.local_models import medium_model, small_model

SECONDS = 60.0
PAIRS = 4


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, in which nothing may be left."""
    pytest.importorskip("xllamacpp")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_time_of_all_layers_is_extrapolated() -> None:
    head, layer = 10.0, 1.5
    seconds = extrapolate(head + FEW * layer, 1 + 2 * layer, 1 + 6 * layer, 28)
    assert seconds == pytest.approx(head + 28 * layer)


def test_more_layers_are_never_faster() -> None:
    assert extrapolate(13.0, 4.0, 3.9, 28) == 13.0


@pytest.mark.slow
async def test_model_that_is_not_installed_is_measured(temporary: Path) -> None:
    speed = await measure_shape(SMALL, System(), SECONDS)
    assert speed is not None
    assert 0.1 < speed < 10_000


@pytest.mark.slow
async def test_measurement_ends_in_time(temporary: Path) -> None:
    assert await measure_shape(SMALL, System(), 0.3) is None


@pytest.mark.slow
async def test_canceled_measurement_leaves_no_file(temporary: Path) -> None:
    async with asyncio.TaskGroup() as tasks:
        measuring = tasks.create_task(measure_shape(MEDIUM, System(), SECONDS))
        while not await asyncio.to_thread(lambda: list(temporary.glob("*/random.gguf"))):
            assert not measuring.done()
        measuring.cancel()
    assert measuring.cancelled()


@pytest.mark.slow
async def test_nothing_is_measured_on_a_full_disk(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stet.llm.embedded.speed._ROOM", 2**62)
    assert await measure_shape(SMALL, System(), SECONDS) is None


@pytest.mark.long
@pytest.mark.parametrize("model", [SMALL, MEDIUM], ids=["small", "medium"])
async def test_measured_shape_is_about_as_fast_as_the_model(
    temporary: Path, model: CatalogModel
) -> None:
    local: LocalModel = small_model() if model is SMALL else medium_model()
    ratios = []
    for _ in range(PAIRS):  # another process may take a processor in the middle of a pair
        estimated = await measure_shape(model, System(), SECONDS)
        measured = await measure_speed(local, System())
        assert estimated is not None
        assert measured is not None
        ratios.append(estimated / measured)
        if 1 / 2 < ratios[-1] < 2:
            return
    raise AssertionError(f"not within a factor of 2: {ratios}")
