"""The folder of installed weights: what is in it, whether it is usable, and the licences."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from stet.llm.weights.catalog import CATALOG, ModelWeights
from stet.llm.weights.partial_file import PartialFile

RUNTIME = "xllamacpp"
HOW_TO_GET_RUNTIME = (
    "The embedded model needs the extra `local`: run `pip install '.[local]'` in a clone of "
    "Stet, in Stet's environment."
)
LICENCE, NOTICE = ".LICENSE.txt", ".NOTICE.txt"
"""The suffixes of the files beside the weights."""


def default_folder() -> Path:
    """Return `stet/models` in the platform's folder for user data."""
    import platformdirs  # late: needed only when a model is selected

    return platformdirs.user_data_path("stet", appauthor=False) / "models"


def installed_path(weights: ModelWeights, folder: Path) -> Path:
    """Return the path that the installed file has."""
    return folder / weights.file


def install_argument(weights: ModelWeights) -> str:
    """Return what `stet model install` must be given for these weights: a size or an address."""
    sizes = [one.size for one in CATALOG if one.weights.file == weights.file]
    return sizes[0] if sizes else str(weights.hub)


def why_no_runtime() -> str:
    """Return a sentence that says how to get the program that runs models, or "" if it is there."""
    return "" if find_spec(RUNTIME) is not None else HOW_TO_GET_RUNTIME


def write_licence(weights: ModelWeights, folder: Path) -> None:
    """Write the licence and the notice beside the weights. It blocks.

    Raises:
        OSError: If the disk can't be written.
    """
    if install_argument(weights) in {one.size for one in CATALOG}:
        text = (files("stet.llm.weights") / "apache-2.0.txt").read_text(encoding="utf-8")
        folder.joinpath(weights.file + LICENCE).write_text(text, encoding="utf-8")
    folder.joinpath(weights.file + NOTICE).write_text(weights.notice + "\n", encoding="utf-8")


def remove_weights(weights: ModelWeights, folder: Path) -> int:
    """Remove weights with their licence and an unfinished download. It blocks.

    Returns:
        The number of bytes that are free now.

    Raises:
        OSError: If a file can't be removed.
    """
    n_bytes = 0
    path = installed_path(weights, folder)
    texts = (folder / f"{weights.file}{suffix}" for suffix in (LICENCE, NOTICE))
    for file in (path, PartialFile(path).path, *texts):
        if file.is_file():
            n_bytes += file.stat().st_size
            file.unlink()
    return n_bytes


def other_files(folder: Path) -> Iterator[Path]:
    """Yield the installed files that are not in the catalog, by name. It blocks."""
    known = {one.weights.file for one in CATALOG}
    if folder.is_dir():
        yield from (path for path in sorted(folder.glob("*.gguf")) if path.name not in known)
