import pytest

from stet.llm.fill_in_middle import FAMILIES, family_of

PROMPTS = {
    "Qwen/Qwen2.5-Coder-1.5B": "<|fim_prefix|>A<|fim_suffix|>B<|fim_middle|>",
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf": "<|fim_prefix|>A<|fim_suffix|>B<|fim_middle|>",
    "bigcode/starcoder2-3b": "<fim_prefix>A<fim_suffix>B<fim_middle>",
    "codellama/CodeLlama-7b-hf": "<PRE> A <SUF>B <MID>",
    "deepseek-ai/deepseek-coder-1.3b-base": "<\uff5cfim\u2581begin\uff5c>A<\uff5cfim\u2581hole\uff5c>B<\uff5cfim\u2581end\uff5c>",
    "mistralai/Codestral-22B-v0.1": "[SUFFIX]B[PREFIX]A",
    "google/codegemma-2b": "<|fim_prefix|>A<|fim_suffix|>B<|fim_middle|>",
    "ibm-granite/granite-3b-code-base": "<fim_prefix>A<fim_suffix>B<fim_middle>",
    "ibm-granite/granite-4.0-micro": "<|fim_prefix|>A<|fim_suffix|>B<|fim_middle|>",
    "ByteDance-Seed/Seed-Coder-8B-Base": "<[fim-suffix]>B<[fim-prefix]>A<[fim-middle]>",
}


@pytest.mark.parametrize(("model", "prompt"), PROMPTS.items())
def test_family_has_the_prompt_of_the_model(model: str, prompt: str) -> None:
    family = family_of(model)
    assert family is not None
    assert family.prompt("A", "B") == prompt


@pytest.mark.parametrize("model", ["", "gpt-5", "llama-3.2-1b", "smollm2-135m"])
def test_family_of_another_model_is_not_guessed(model: str) -> None:
    assert family_of(model) is None


def test_prompt_leaves_placeholders_in_the_text_alone() -> None:
    for family in FAMILIES:
        assert family.prompt("{suffix}", "{prefix}").count("{") == 2
        assert 1 <= len(family.stop) <= 3  # with a line end four, the most that servers take
