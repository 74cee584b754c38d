"""Find weights that other programs have downloaded: huggingface_hub, llama.cpp, Ollama.

Only the name and the size are looked at here; the installation checks the checksum of a file before
it is used.
"""

import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from stet.llm.weights.catalog import ModelWeights

MAX_FILES = 1000
"""The most files of a folder that are looked at."""


def find_existing(
    weights: ModelWeights, environ: Mapping[str, str], home: Path
) -> Iterator[tuple[str, Path]]:
    """Yield the program's name and the path of each file that may be these weights. It blocks.

    Args:
        weights: The weights. Without a checksum only a file at their very address may be them.
        environ: The environment, which may name the folders of the programs.
        home: The home folder.
    """
    for program, path in _candidates(weights, environ, home):
        try:
            found = path.stat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and found.st_size == (weights.size or found.st_size):
            yield program, path


def _candidates(
    weights: ModelWeights, environ: Mapping[str, str], home: Path
) -> Iterator[tuple[str, Path]]:
    caches = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    hub_home = Path(environ.get("HF_HOME") or caches / "huggingface")
    hub = Path(environ.get("HF_HUB_CACHE") or hub_home / "hub")
    if weights.hub is not None:
        repository = hub / f"models--{weights.hub.repository.replace('/', '--')}"
        snapshot = repository / "snapshots" / weights.hub.revision
        yield "huggingface_hub", snapshot / weights.hub.file
        yield "huggingface_hub", repository / "blobs" / (weights.sha256 or "unknown")
    if not weights.sha256:
        return
    base = home / "Library" / "Caches" if sys.platform == "darwin" else caches
    llama = Path(environ.get("LLAMA_CACHE") or base / "llama.cpp")
    yield from (("llama.cpp", path) for path in _listed(llama, "*.gguf"))
    stores = [home / ".ollama/models", Path("/usr/share/ollama/.ollama/models")]
    if store := environ.get("OLLAMA_MODELS"):
        stores.insert(0, Path(store))
    yield from (("Ollama", store / "blobs" / f"sha256-{weights.sha256}") for store in stores)


def _listed(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the first files of a folder; none if it can't be read."""
    try:
        for _, path in zip(range(MAX_FILES), folder.glob(pattern), strict=False):
            yield path
    except OSError:
        return
