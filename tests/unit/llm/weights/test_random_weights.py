"""Files with the shape of an offered model and random weights."""

import struct
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

from stet.llm.weights.catalog import CATALOG, MEDIUM, SMALL, CatalogModel
from stet.llm.weights.gguf import read_gguf_header
from stet.llm.weights.random_weights import write_random_weights

SIZES = [pytest.param(one, id=one.size) for one in CATALOG]


@pytest.mark.parametrize("model", SIZES)
def test_shape_has_the_parameters_and_the_size_of_the_model(model: CatalogModel) -> None:
    assert sum(prod(one.sizes) for one in model.shape.tensors()) == model.n_parameters
    header = model.weights.size - model.shape.n_bytes
    assert 1_000_000 < header < 6_000_000


@pytest.mark.parametrize("model", SIZES)
def test_file_has_the_shape_that_was_asked_for(model: CatalogModel, tmp_path: Path) -> None:
    shape = replace(model.shape, n_layers=2, n_tokens=1000)
    path = tmp_path / "random.gguf"
    write_random_weights(path, shape)
    header = read_gguf_header(path)
    assert header.architecture == shape.architecture
    assert header.n_parameters == sum(prod(one.sizes) for one in shape.tensors())
    assert shape.n_bytes < path.stat().st_size < shape.n_bytes + 30_000


def test_scales_of_blocks_differ_and_stay_near_those_of_a_trained_model(tmp_path: Path) -> None:
    path = tmp_path / "random.gguf"
    shape = replace(SMALL.shape, n_layers=1, n_tokens=32)
    write_random_weights(path, shape)
    last = list(shape.tensors())[-1]
    assert last.name == "blk.0.ffn_down.weight"
    blocks = path.read_bytes()[-last.n_bytes :]
    for at, usual in last.quantization.scales:
        scales = [
            struct.unpack_from("<e", blocks, begin)[0] / usual
            for begin in range(at, len(blocks), last.quantization.n_bytes)
        ]
        assert len(set(scales)) > 500
        assert 0.1 < min(scales) < 0.5
        assert 2 < max(scales) < 10


def test_embeddings_that_are_read_by_the_row_take_no_time_to_write(tmp_path: Path) -> None:
    path = tmp_path / "random.gguf"
    write_random_weights(path, replace(MEDIUM.shape, n_layers=1, n_tokens=1024))
    content = path.read_bytes()
    rows = bytes(next(MEDIUM.shape.tensors()).n_bytes * 1024 // MEDIUM.shape.n_tokens)
    assert content.count(rows) == 1
