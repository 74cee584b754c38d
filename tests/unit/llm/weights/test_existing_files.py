"""Weights that other programs have downloaded: used where the checksum fits."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stet.llm.weights.existing_files import find_existing
from stet.llm.weights.install import install_file, install_weights
from stet.llm.weights.model_folder import remove_weights
from stet.llm.weights.partial_file import InstallError
from stet.system.system import System
from tests.support.tiny_weights import CONTENT, REVISION, TINY, visible

REPOSITORY = "huggingface/hub/models--owner--tiny-GGUF"
PLACES = {
    "huggingface_hub": (f".cache/{REPOSITORY}/blobs/{TINY.sha256}", {}),
    "huggingface_hub without links": (
        f".cache/{REPOSITORY}/snapshots/{REVISION}/tiny.gguf",
        {},
    ),
    "HF_HOME": (f"hf/hub/{Path(REPOSITORY).name}/blobs/{TINY.sha256}", {"HF_HOME": "hf"}),
    "HF_HUB_CACHE": (f"c/{Path(REPOSITORY).name}/blobs/{TINY.sha256}", {"HF_HUB_CACHE": "c"}),
    "llama.cpp": (".cache/llama.cpp/owner_tiny-GGUF_tiny.gguf", {}),
    "LLAMA_CACHE": ("llama/any.gguf", {"LLAMA_CACHE": "llama"}),
    "Ollama": (f".ollama/models/blobs/sha256-{TINY.sha256}", {}),
    "OLLAMA_MODELS": (f"o/blobs/sha256-{TINY.sha256}", {"OLLAMA_MODELS": "o"}),
}
"""Where a file is below the home folder, and the variables that name its folder."""


class OfflineSystem(System):
    """A system with these variables, in which nothing can be downloaded."""

    def __init__(self, home: Path, folders: Mapping[str, str]) -> None:
        super().__init__()
        self._env = {name: str(home / folder) for name, folder in folders.items()}

    def environ(self) -> Mapping[str, str]:
        return {**self._env, "HF_HUB_OFFLINE": "1"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    return tmp_path / "home"


def put(home: Path, place: str, content: bytes = CONTENT) -> Path:
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("place", "folders"), PLACES.values(), ids=PLACES.keys())
async def test_install_uses_the_file_of_another_program(
    home: Path, tmp_path: Path, place: str, folders: dict[str, str]
) -> None:
    there = put(home, place)
    system = OfflineSystem(home, folders)
    path = await install_weights(TINY, tmp_path / "models", system, lambda *_: None)
    assert path.read_bytes() == CONTENT
    assert path.samefile(there)  # a second name takes no space
    there.unlink()
    assert path.read_bytes() == CONTENT


async def test_install_does_not_use_a_file_with_another_checksum(
    home: Path, tmp_path: Path
) -> None:
    for place, _ in PLACES.values():
        put(home, place, b"x" * len(CONTENT))
    system = OfflineSystem(home, PLACES["LLAMA_CACHE"][1])
    with pytest.raises(InstallError, match="HF_HUB_OFFLINE is set"):
        await install_weights(TINY, tmp_path / "models", system, lambda *_: None)
    assert visible(tmp_path / "models") == []


def test_folder_and_broken_link_are_not_files(home: Path) -> None:
    (home / PLACES["Ollama"][0]).mkdir(parents=True)
    blob = home / PLACES["huggingface_hub"][0]
    blob.parent.mkdir(parents=True)
    blob.symlink_to("nowhere")
    assert list(find_existing(replace(TINY, size=0), {}, home)) == []


async def test_file_of_the_user_is_copied_if_its_hash_is_right(home: Path, tmp_path: Path) -> None:
    given = put(home, "Downloads/any name.gguf")
    path = await install_file(TINY, given, tmp_path / "models", lambda *_: None)
    assert path.read_bytes() == CONTENT
    assert not path.samefile(given)  # the user may write into it
    assert visible(tmp_path / "models") == ["tiny.gguf", "tiny.gguf.NOTICE.txt"]


@pytest.mark.parametrize("content", [b"x" * len(CONTENT), b"short"])
async def test_file_of_another_model_is_refused_with_a_remedy(
    home: Path, tmp_path: Path, content: bytes
) -> None:
    given = put(home, "any.gguf", content)
    with pytest.raises(InstallError, match=r"model\.provider to local and model\.name to its path"):
        await install_file(TINY, given, tmp_path / "models", lambda *_: None)
    folder = tmp_path / "models"
    assert not folder.exists() or visible(folder) == []


async def test_missing_file_of_the_user_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="can't be read: No such file"):
        await install_file(TINY, tmp_path / "none", tmp_path / "models", lambda *_: None)


async def test_removed_weights_leave_nothing(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    await install_file(TINY, put(home, "a.gguf"), folder, lambda *_: None)
    (folder / ".tiny.gguf.part").write_bytes(b"abc")
    notice = (folder / "tiny.gguf.NOTICE.txt").stat().st_size
    assert remove_weights(TINY, folder) == len(CONTENT) + 3 + notice
    assert visible(folder) == []
