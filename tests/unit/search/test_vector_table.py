"""The nearest vectors: what a comparison with all of them would find."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.search.vector_table import N_ROUGH, VectorTable, pack_vector

Matrix = np.ndarray[Any, Any]


def unit_vectors(seed: int, n: int, length: int = 8) -> Matrix:
    drawn = np.random.default_rng(seed).normal(size=(n, length)).astype(np.float32)
    unit: Matrix = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def as_kept(vectors: Matrix) -> Matrix:
    """What is left of vectors once they are bytes, at unit length."""
    bytes_ = np.array([np.frombuffer(pack_vector(each), dtype=np.int8) for each in vectors])
    floats = bytes_.astype(np.float32)
    unit: Matrix = floats / np.linalg.norm(floats, axis=1, keepdims=True)
    return unit


def brute_force(kept: dict[int, Matrix], query: Matrix, limit: int) -> list[float]:
    return sorted((float(each @ query) for each in kept.values()), reverse=True)[:limit]


operations = st.lists(
    st.tuples(st.sampled_from(["put", "drop"]), st.lists(st.integers(0, 30), max_size=6)),
    max_size=20,
)


@given(operations=operations, seed=st.integers(0, 1000), limit=st.integers(1, 12))
def test_whatever_comes_and_goes_the_nearest_are_those_of_a_comparison_with_all(
    operations: Sequence[tuple[str, list[int]]], seed: int, limit: int
) -> None:
    pool = unit_vectors(seed, 31)
    known = as_kept(pool)
    query = unit_vectors(seed + 1, 1)[0]
    vectors, there = VectorTable(), set[int]()
    for operation, chunks in operations:
        if operation == "put":
            vectors.add((chunk, pack_vector(pool[chunk])) for chunk in chunks)
            there.update(chunks)
        else:
            vectors.drop(chunks)
            there.difference_update(chunks)
    kept = {chunk: known[chunk] for chunk in there}

    found = vectors.nearest(query, limit)

    assert len(vectors) == len(there)
    assert [cosine for _, cosine in found] == pytest.approx(
        brute_force(kept, query, limit), abs=1e-5
    )
    assert dict(found) == pytest.approx(
        {chunk: float(kept[chunk] @ query) for chunk, _ in found}, abs=1e-5
    )
    assert vectors.cosines(range(31), query) == pytest.approx(
        {chunk: float(each @ query) for chunk, each in kept.items()}, abs=1e-5
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), only=st.sets(st.integers(0, 40)))
def test_only_the_chunks_asked_for_are_found(seed: int, only: set[int]) -> None:
    pool = unit_vectors(seed, 30)
    vectors = VectorTable()
    vectors.add((chunk, pack_vector(each)) for chunk, each in enumerate(pool))
    found = vectors.nearest(pool[0], 50, only)
    assert {chunk for chunk, _ in found} == {chunk for chunk in only if chunk < 30}


def test_among_many_the_first_dimensions_choose_and_all_of_them_decide() -> None:
    pool = unit_vectors(7, 3 * N_ROUGH, 128)
    pool[:, :64] *= 3  # most of the meaning is in front
    pool /= np.linalg.norm(pool, axis=1, keepdims=True)
    vectors = VectorTable()
    vectors.add((chunk, pack_vector(each)) for chunk, each in enumerate(pool))
    query = pool[5]
    found = [chunk for chunk, _ in vectors.nearest(query, 10)]
    assert found == np.argsort(-(as_kept(pool) @ query))[:10].tolist()


def test_a_vector_of_another_length_is_left_out_and_finds_nothing() -> None:
    vectors = VectorTable()
    vectors.add(
        [(1, pack_vector(unit_vectors(1, 1)[0])), (2, pack_vector(unit_vectors(1, 1, 5)[0]))]
    )
    assert len(vectors) == 1
    assert vectors.nearest(unit_vectors(1, 1, 5)[0], 3) == []
    assert vectors.cosines([1, 2], unit_vectors(1, 1, 5)[0]) == {}


def test_without_vectors_nothing_is_near() -> None:
    assert VectorTable().nearest(unit_vectors(1, 1)[0], 3) == []


def test_a_vector_of_zeros_is_near_to_nothing() -> None:
    vectors = VectorTable()
    vectors.add([(1, pack_vector(np.zeros(8, dtype=np.float32)))])
    assert vectors.nearest(unit_vectors(1, 1)[0], 3) == [(1, 0.0)]
