"""What is read of a GGUF file's header, and headers that lie."""

import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stet.llm.weights import model_folder
from stet.llm.weights.catalog import SMALL
from stet.llm.weights.gguf import GgufHeader, NotGguf, read_gguf_header
from tests.support.gguf_files import QWEN, gguf, write_gguf


def test_header_describes_family_size_context_and_template(tmp_path: Path) -> None:
    assert read_gguf_header(write_gguf(tmp_path / "a.gguf")) == GgufHeader(
        architecture="qwen2",
        kind="model",
        name="Tiny Qwen",
        context_length=32_768,
        n_parameters=1536 * 1000 + 1536,
        cache_bytes=28_672,
        has_chat_template=True,
        calls_tools=False,
        n_files=0,
    )


def test_header_of_the_installed_model_is_read() -> None:
    path = model_folder.installed_path(SMALL.weights, model_folder.default_folder())
    if not path.is_file():
        pytest.skip("run `stet model install small`")
    header = read_gguf_header(path)
    assert (header.architecture, header.kind) == ("llama", "model")
    assert header.n_parameters == SMALL.n_parameters
    assert header.has_chat_template


def test_values_of_other_types_than_expected_count_as_missing(tmp_path: Path) -> None:
    odd = {
        "general.architecture": "x",
        "general.type": 7,
        "general.name": 7,
        "x.context_length": 1.5,
        "x.block_count": True,
        "x.attention.head_count": [4, 8],
        "x.attention.head_count_kv": [0, 2, 1],
        "x.embedding_length": 64,
        "tokenizer.chat_template": 3,
    }
    header = read_gguf_header(write_gguf(tmp_path / "a.gguf", odd))
    assert (header.context_length, header.cache_bytes) == (0, 0)
    assert (header.kind, header.name, header.has_chat_template) == ("", "", False)


def nested(kind: int, count: int) -> bytes:
    """A list of elements of a kind, without the elements."""
    return struct.pack("<IIQ", 9, kind, count)


HUGE = 2**63
LIES: dict[str, tuple[bytes, str]] = {
    "another file": (b"PK\x03\x04" + bytes(100), "is not a GGUF file"),
    "empty": (b"", "cut off"),
    "another version": (gguf(head=b"GGUF\x09\0\0\0"), "version"),
    "the other byte order": (gguf(head=b"GGUF\0\0\0\x03"), "version"),
    "cut": (gguf()[:-3], "cut off"),
    "many keys": (gguf(counts=(2, HUGE)), "counts 9,223,372,036,854,775,808 parts"),
    "many tensors": (gguf(counts=(HUGE, 12)), "counts 9,223,372,036,854,775,808 parts"),
    "many elements": (gguf({"a": nested(4, HUGE)}), "parts"),
    "elements in all": (gguf({"a": nested(7, 4_999_999) + bytes(4_999_999), "b": nested(7, 9)}), "too many"),
    "missing elements": (gguf({"a": nested(4, 4_000_000)}), "cut off"),
    "list of lists": (gguf({"a": nested(9, 1)}), "list of lists"),
    "unknown type": (gguf({"a": struct.pack("<I", 99)}), "unknown type 99"),
    "long text": (gguf({"a": struct.pack("<IQ", 8, HUGE)}), "too long"),
    "long text in a list": (gguf({"a": nested(8, 1) + struct.pack("<Q", HUGE)}), "cut off"),
    "many dimensions": (gguf(tensors=[(1, 1, 1, 1, 1)]), "counts 5 parts"),
    "large dimension": (gguf(tensors=[(2**50,)]), "parts"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "reason"), LIES.values(), ids=LIES.keys())
def test_lying_header_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "a.gguf").write_bytes(data)
    with pytest.raises(NotGguf, match=reason):
        read_gguf_header(tmp_path / "a.gguf")


def test_text_that_is_not_utf8_and_a_long_text_are_no_error(tmp_path: Path) -> None:
    odd = struct.pack("<IQ", 8, 2) + b"\xff\xfe"
    long = struct.pack("<IQ", 8, 1_000_001) + bytes(1_000_001)
    path = write_gguf(tmp_path / "a.gguf", {**QWEN, "general.type": odd, "x": long})
    assert read_gguf_header(path).kind == "\ufffd\ufffd"


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(gguf()) - 1), byte=st.integers(0, 255), cut=st.booleans())
def test_any_damaged_header_is_read_or_refused(
    tmp_path: Path, at: int, byte: int, cut: bool
) -> None:
    data = bytearray(gguf())
    data[at] = byte
    path = tmp_path / "a.gguf"
    path.write_bytes(data[:at] if cut else data)
    try:
        header = read_gguf_header(path)
    except NotGguf:
        return
    assert header.n_parameters >= 0
    assert header.cache_bytes >= 0
