"""The name of a model as the user reads it."""

import pytest

from stet.llm.model import display_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("gpt-5", "gpt-5"),
        ("qwen/qwen-2.5-coder", "qwen/qwen-2.5-coder"),
        ("/srv/models/qwen2.5-coder-1.5b-q4_k_m.gguf", "qwen2.5-coder-1.5b-q4_k_m"),
        (r"C:\models\Qwen2.5-Coder.GGUF", "Qwen2.5-Coder"),
        ("qwen.gguf", "qwen"),
        ("", ""),
    ],
)
def test_display_name_of_a_file_is_its_stem(name: str, shown: str) -> None:
    assert display_name(name) == shown
