"""What `stet model install` offers, and the model that it takes by default."""

from pathlib import Path

import pytest

from stet.cli.model_install import InstallRequest, Speeds, default_model, install
from stet.cli.terminal import CliError
from stet.llm.weights import model_folder
from stet.llm.weights.catalog import CATALOG
from stet.llm.weights.model_folder import write_licence

GB = 10**9


@pytest.mark.parametrize(
    ("memory", "disk", "size"),
    [
        (16 * GB, 100 * GB, "medium"),
        (int(4.4 * GB), 4 * GB, "medium"),
        (int(4.3 * GB), 100 * GB, "small"),
        (16 * GB, 3 * GB, "small"),
        (None, 100 * GB, "small"),
    ],
)
def test_default_model_leaves_half_of_the_memory_and_room_on_the_disk(
    memory: int | None, disk: int, size: str
) -> None:
    assert default_model(memory, disk).size == size


@pytest.mark.parametrize(
    ("speeds", "described"),
    [
        (
            Speeds({}, {}),
            [
                "41 tokens a second (measured on a cloud machine)",
                "6 tokens a second (measured on a cloud machine)",
            ],
        ),
        (
            Speeds({}, {"small": 82.0, "medium": 20.4}),
            [
                "about 82 tokens a second (measured here with random weights)",
                "about 20 tokens a second (measured here with random weights)",
            ],
        ),
        (
            Speeds({"small": 82.0}, {}),
            [
                "82 tokens a second (measured here in 5 s)",
                "about 12 tokens a second (estimated from small, measured here)",
            ],
        ),
        (
            Speeds({}, {"small": 82.0}),
            [
                "about 82 tokens a second (measured here with random weights)",
                "about 12 tokens a second (estimated from small, measured here)",
            ],
        ),
        (
            Speeds({"small": 82.0, "medium": 20.4}, {"small": 1.0}),
            [
                "82 tokens a second (measured here in 5 s)",
                "20 tokens a second (measured here in 5 s)",
            ],
        ),
    ],
)
def test_speed_says_how_it_is_known(speeds: Speeds, described: list[str]) -> None:
    assert [speeds.describe(one) for one in CATALOG] == described


def test_weights_without_a_runtime_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_folder, "RUNTIME", "no_such_runtime")
    with pytest.raises(CliError, match=r"pip install '\.\[local\]'"):
        install(InstallRequest())


def test_licence_and_notice_are_written_beside_the_offered_models(tmp_path: Path) -> None:
    for one in CATALOG:
        write_licence(one.weights, tmp_path)
        licence = (tmp_path / f"{one.weights.file}.LICENSE.txt").read_text()
        assert "Apache License\n" in licence
        assert "Version 2.0, January 2004" in licence
    notice = (tmp_path / f"{CATALOG[1].weights.file}.NOTICE.txt").read_text()
    assert notice.startswith("Qwen2.5-Coder, by Alibaba Cloud, ")
