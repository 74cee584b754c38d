"""What is said of a model."""

from stet.cli.model_command import _states, describe_choice
from stet.llm.model_selection import ModelChoice, ModelEnvironment


def test_choice_is_described_with_its_host_and_without_secrets() -> None:
    url = "https://me:secret@proxy.example:8443/v1?key=secret"
    choice = ModelChoice("openai", url, "m", "sk-secret", why="model.baseUrl is set.")
    assert describe_choice(choice) == (
        "m (openai at https://proxy.example:8443/v1). model.baseUrl is set."
    )


def test_a_choice_without_a_name_or_a_place() -> None:
    assert (
        describe_choice(ModelChoice("ollama", "", "", why="It runs."))
        == "its first model (ollama). It runs."
    )


def test_blank_key_counts_as_missing() -> None:
    environment = ModelEnvironment({"OPENAI_API_KEY": " ", "MISTRAL_API_KEY": "k"})
    rows = dict(_states(environment))
    assert rows["openai"] == "no key (OPENAI_API_KEY)"
    assert rows["mistral"] == "MISTRAL_API_KEY is set"
