"""How many threads the child of the embedded model takes."""

import multiprocessing
import os

import pytest

from stet.llm.embedded.llama_server import free_threads


def test_free_threads_are_at_least_one_and_at_most_those_asked_for() -> None:
    assert free_threads(1) == 1
    assert free_threads(2) in {1, 2}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_free_threads_are_one_if_both_share_a_processor() -> None:
    context = multiprocessing.get_context("fork")
    with context.Pool(1, initializer=os.sched_setaffinity, initargs=(0, {0})) as pool:
        assert pool.apply(free_threads, (2,)) == 1
