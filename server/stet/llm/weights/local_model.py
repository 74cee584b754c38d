"""The local models that can be run: from the catalog, from the hub, or any file of the user's."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from stet.llm.weights.catalog import (
    CATALOG,
    CatalogModel,
    find_model,
    hub_weights,
    parse_hub_address,
)
from stet.llm.weights.gguf import GgufHeader, NotGguf, read_gguf_header
from stet.llm.weights.model_folder import RUNTIME, install_argument, installed_path, other_files

TINY_PARAMETERS = 400_000_000
"""The number of parameters below which a model can only fill in forms."""
CONTEXT_TOKENS = 8192
"""The context window of a model that is not in the catalog, or less if it was trained on less."""
_WORKING_MEMORY = 150_000_000
GB = 1_000_000_000


class UnusableModel(Exception):
    """A file of weights can't be run; `str()` is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that can be run on this machine.

    Attributes:
        name: The name of the model, for the user.
        path: The file of weights.
        n_bytes: The size of the file.
        memory: The memory of its process, in bytes; estimated if it is not in the catalog.
        n_parameters: The number of parameters.
        context_tokens: The context window that it is run with.
        size: The word by which the catalog offers it; "" if it is not in the catalog.
        architecture: The family that its file names; "" for a model of the catalog.
        title: The name that its file states; "" for a model of the catalog.
        calls_tools: Whether its chat template has a place for tools.
    """

    name: str
    path: Path
    n_bytes: int
    memory: int
    n_parameters: int
    context_tokens: int
    size: str = ""
    architecture: str = ""
    title: str = ""
    calls_tools: bool = True

    @property
    def is_tiny(self) -> bool:
        """Whether the model can only fill in forms, and repeats itself if it writes freely."""
        return self.n_parameters < TINY_PARAMETERS

    @property
    def full_name(self) -> str:
        """Its name and the one that its file states: one of them may tell the family."""
        return f"{self.name} {self.title}".strip().replace(" ", "-")

    @property
    def billions(self) -> float:
        """The number of parameters in billions, with two decimals."""
        return round(self.n_parameters / 1e9, 2)

    @property
    def max_threads(self) -> int:
        """The most threads that make it faster, if that many processors are free.

        With two threads the tiny model falls from 44 tokens a second to 6 on a busy machine; a
        larger one was twice as fast each time.
        """
        return 1 if self.is_tiny else 2


def is_local_name(name: str) -> bool:
    """Return whether `model.name` can only mean a local model: an address or a full path.

    A server may list its models by the names of their files.
    """
    return name.startswith(("hf:", "~")) or (_is_file_name(name) and Path(name).is_absolute())


def _is_file_name(name: str) -> bool:
    return name.lower().endswith(".gguf")


def installed_models(folder: Path) -> tuple[LocalModel, ...]:
    """Return the installed models of the catalog, the smallest first. It blocks."""
    return tuple(
        local for one in CATALOG if (local := catalog_model(one, folder)).path.is_file()
        and local.path.stat().st_size == local.n_bytes
    )  # fmt: skip


def catalog_model(model: CatalogModel, folder: Path) -> LocalModel:
    """Return a model of the catalog as it is run from the folder, installed or not."""
    return LocalModel(
        name=model.weights.name,
        path=installed_path(model.weights, folder),
        n_bytes=model.weights.size,
        memory=model.memory,
        n_parameters=model.n_parameters,
        context_tokens=model.context_tokens,
        size=model.size,
    )


def find_local_model(name: str, folder: Path) -> LocalModel | None:
    """Return the local model that `model.name` means, or None if it means none. It blocks.

    Args:
        name: A size, a name, an address on Hugging Face, or the path of a GGUF file.
        folder: The folder of installed weights.

    Raises:
        UnusableModel: If it means one that is not installed, is damaged, or can't be run.
    """
    if (model := find_model(name)) is not None:
        return check_file(catalog_model(model, folder))
    if name.startswith("hf:"):
        try:
            weights = hub_weights(parse_hub_address(name))
        except ValueError as error:
            raise UnusableModel(str(error)) from error
        path = installed_path(weights, folder)
        if not path.is_file():
            raise UnusableModel(_how_to_install(install_argument(weights)))
        return read_local_model(path, weights.name)
    for path in other_files(folder):
        if name in {path.name, path.stem}:
            return read_local_model(path)
    return _at_path(name) if is_local_name(name) or _is_file_name(name) else None


def read_local_model(path: Path, name: str = "") -> LocalModel:
    """Return the model in a GGUF file, as its header describes it. It blocks.

    Args:
        path: The file.
        name: The name for the user; by default that of the file.

    Raises:
        UnusableModel: If the file is not that of a model that answers questions.
    """
    try:
        n_bytes = path.stat().st_size
        header = read_gguf_header(path)
    except OSError as error:
        raise UnusableModel(f"{str(path)!r} can't be read: {error.strerror or error}.") from error
    except NotGguf as error:
        raise UnusableModel(f"{str(path)!r} can't be used: {error}.") from error
    if reason := _why_unusable(header):
        raise UnusableModel(f"{str(path)!r} can't be used: {reason}")
    context = min(header.context_length or CONTEXT_TOKENS, CONTEXT_TOKENS)
    memory = n_bytes * 3 // 2 + header.cache_bytes * context + _WORKING_MEMORY
    return LocalModel(
        name=name or path.stem,
        path=path,
        n_bytes=n_bytes,
        memory=memory,
        n_parameters=header.n_parameters,
        context_tokens=context,
        architecture=header.architecture,
        title=header.name,
        calls_tools=header.calls_tools,
    )


def memory_warning(local: LocalModel, free: int | None) -> str:
    """Return a sentence if a model needs more than half of the free memory; else "".

    Args:
        local: The model.
        free: The free memory in bytes; None if it is not known.
    """
    if free is None or 2 * local.memory <= free:
        return ""
    needs = f"{local.name} needs about {local.memory / GB:.1f} GB of memory"
    if local.memory > free:
        return (
            f"{needs}, but only {free / GB:.1f} GB are free: close other programs, or choose a "
            "smaller model with model.name."
        )
    return f"{needs}; {free / GB:.1f} GB are free."


def _why_unusable(header: GgufHeader) -> str:
    """Return why a file can't be run as a model that answers questions, or ""."""
    if header.kind not in {"", "model"}:
        return f"it is not a model but of the kind {header.kind!r}."
    if not header.architecture or not header.n_parameters:
        return "its header does not describe a model."
    if header.n_files > 1:
        return f"it is one of {header.n_files} files: join them with `llama-gguf-split --merge`."
    if not header.has_chat_template:
        return (
            "it has no chat template, as models have that only continue a text: use the file of "
            "an instruct model."
        )
    return ""


def _at_path(name: str) -> LocalModel:
    try:
        path = Path(name).expanduser()
    except RuntimeError as error:  # there is no home folder
        raise UnusableModel(f"model.name {name!r} can't be resolved: {error}.") from error
    if not path.is_absolute():
        raise UnusableModel(f"model.name {name!r} is a relative path: write the full path.")
    return read_local_model(path)


def check_file(local: LocalModel) -> LocalModel:
    """Return the model if its file is there and has its size. It blocks.

    Raises:
        UnusableModel: If the file is not installed, damaged or another one.
    """
    if not local.path.is_file():
        missing = f"{str(local.path)!r} does not exist: choose another with model.name."
        raise UnusableModel(_how_to_install(local.size) if local.size else missing)
    if local.path.stat().st_size != local.n_bytes:
        again = f"run `stet model install {local.size}` again."
        changed = "it was changed: run the command again, or restart the editor."
        what = f"is damaged: {again}" if local.size else f"can't be used: {changed}"
        raise UnusableModel(f"{str(local.path)!r} {what}")
    return local


def _how_to_install(argument: str) -> str:
    return f"The local model {argument!r} is not installed: run `stet model install {argument}`."


def how_to_load(local: LocalModel) -> str:
    """Return what to do if llama.cpp can't load a model."""
    if local.size:
        return f"Run `stet model install {local.size}` again, or choose another with model.name."
    try:
        runtime = f"{RUNTIME} {version(RUNTIME)}"
    except PackageNotFoundError:
        runtime = RUNTIME
    return (
        f"This version of llama.cpp ({runtime}) may not know the family {local.architecture!r}, or "
        f"the file is damaged: run `pip install --upgrade {RUNTIME}`, or choose another with "
        "model.name."
    )
