"""Which file `model.name` means, how it is run, and the sentence if it can't be."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stet.llm.embedded.embedded_model import EmbeddedModel
from stet.llm.model import ModelError
from stet.llm.weights.catalog import MEDIUM, SMALL, find_model, parse_hub_address
from stet.llm.weights.local_model import (
    UnusableModel,
    catalog_model,
    find_local_model,
    installed_models,
    memory_warning,
    read_local_model,
)
from stet.system.system import System
from tests.support.gguf_files import QWEN, TEMPLATE, write_gguf
from tests.support.model_requests import ModelOutput
from tests.support.tiny_weights import REVISION

BIG = ((100_000, 10_000),)
"""The tensor of a model of a billion parameters."""
ADDRESS = f"hf:owner/tiny-GGUF/sub/tiny.gguf@{REVISION}"
HUB_FILE = f"{REVISION[:12]}--owner--tiny-GGUF--sub--tiny.gguf"


def test_any_file_is_run_as_its_header_describes_it(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "My Model.gguf", tensors=BIG)
    local = read_local_model(path)
    n_bytes = path.stat().st_size
    assert (local.name, local.architecture, local.n_bytes) == ("My Model", "qwen2", n_bytes)
    assert (local.context_tokens, local.billions, local.max_threads) == (8192, 1.0, 2)
    assert not local.is_tiny
    assert local.memory == n_bytes * 3 // 2 + 28_672 * 8192 + 150_000_000


def test_model_below_400_million_parameters_is_tiny(tmp_path: Path) -> None:
    short = {**QWEN, "qwen2.context_length": 2048}
    local = read_local_model(write_gguf(tmp_path / "a.gguf", short))
    assert local.is_tiny
    assert (local.context_tokens, local.max_threads) == (2048, 1)


UNUSABLE: dict[str, tuple[Mapping[str, Any], str]] = {
    "base model": (
        {key: value for key, value in QWEN.items() if value != TEMPLATE},
        "no chat template, .* use the file of an instruct model",
    ),
    "adapter": ({**QWEN, "general.type": "adapter"}, "of the kind 'adapter'"),
    "vision": ({**QWEN, "general.type": "mmproj"}, "of the kind 'mmproj'"),
    "split": ({**QWEN, "split.count": 3}, "one of 3 files: join them with `llama-gguf-split"),
    "nameless": ({"a": "b"}, "does not describe a model"),
}


@pytest.mark.parametrize(("values", "reason"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_file_that_answers_no_questions_is_refused_with_a_remedy(
    tmp_path: Path, values: Mapping[str, Any], reason: str
) -> None:
    with pytest.raises(UnusableModel, match=rf"a\.gguf' can't be used: .*{reason}"):
        read_local_model(write_gguf(tmp_path / "a.gguf", values))


def test_names_mean_a_size_an_address_a_path_or_an_installed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "models"
    folder.mkdir()
    write_gguf(folder / HUB_FILE, tensors=BIG)
    write_gguf(tmp_path / "own.gguf", tensors=BIG)
    found = {
        name: (local.name, local.path.relative_to(tmp_path))
        for name in (ADDRESS, HUB_FILE, str(tmp_path / "own.gguf"), "~/own.gguf")
        if (local := find_local_model(name, folder))
    }
    assert found == {
        ADDRESS: ("tiny", Path("models", HUB_FILE)),
        HUB_FILE: (HUB_FILE.removesuffix(".gguf"), Path("models", HUB_FILE)),
        str(tmp_path / "own.gguf"): ("own", Path("own.gguf")),
        "~/own.gguf": ("own", Path("own.gguf")),
    }
    assert find_local_model("gpt-5", folder) is None
    assert find_model("medium") is find_model("Qwen2.5-Coder-1.5B-Instruct") is MEDIUM


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("medium", "'medium' is not installed: run `stet model install medium`"),
        (ADDRESS, f"{ADDRESS}' is not installed: run `stet model install {ADDRESS}`"),
        ("hf:owner/repo/a.gguf@main", r"write hf:OWNER/REPOSITORY/FILE\.gguf@REVISION, with the 40"),
        ("hf:owner/../a.gguf@" + REVISION, "is not the address of a file of weights"),
        ("own.gguf", "'own.gguf' is a relative path: write the full path"),
        ("/nowhere/a.gguf", "'/nowhere/a.gguf' can't be read: No such file"),
    ],
)  # fmt: skip
def test_unusable_name_is_a_sentence(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(UnusableModel, match=sentence):
        find_local_model(name, tmp_path)


def test_damaged_file_is_not_installed_and_is_named(tmp_path: Path) -> None:
    (tmp_path / SMALL.weights.file).write_bytes(b"short")
    assert installed_models(tmp_path) == ()
    with pytest.raises(UnusableModel, match="is damaged: run `stet model install small` again"):
        find_local_model("small", tmp_path)


@pytest.mark.parametrize(
    ("free", "warning"),
    [
        (None, ""),
        (4_400_000_000, ""),
        (
            4_100_000_000,
            "Qwen2.5-Coder-1.5B-Instruct needs about 2.2 GB of memory; 4.1 GB are free.",
        ),
        (
            2_000_000_000,
            "Qwen2.5-Coder-1.5B-Instruct needs about 2.2 GB of memory, but only 2.0 GB are free: "
            "close other programs, or choose a smaller model with model.name.",
        ),
    ],
)
def test_model_that_needs_more_than_half_of_the_free_memory_is_announced(
    tmp_path: Path, free: int | None, warning: str
) -> None:
    assert memory_warning(catalog_model(MEDIUM, tmp_path), free) == warning


@pytest.mark.slow
async def test_family_that_llama_cpp_does_not_know_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    values = {key.replace("qwen2", "newfamily"): value for key, value in QWEN.items()}
    values["general.architecture"] = "newfamily"
    path = await asyncio.to_thread(write_gguf, tmp_path / "new.gguf", values)
    local = replace(read_local_model(path), memory=1)
    model = EmbeddedModel(System(), local)
    with pytest.raises(ModelError) as raised:
        await ModelOutput().ask(model)
    await model.close()
    assert "could not be started" in str(raised.value)
    assert "may not know the family 'newfamily'" in str(raised.value)
    assert "run `pip install --upgrade xllamacpp`" in str(raised.value)


def test_address_is_written_as_it_is_read() -> None:
    assert str(parse_hub_address(ADDRESS)) == ADDRESS
