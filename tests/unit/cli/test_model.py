"""What is said of a model."""

from stet.cli.model import described
from stet.llm.choose import Choice


def test_a_choice_is_said_with_its_place_and_without_its_secrets() -> None:
    url = "https://me:secret@proxy.example:8443/v1?key=secret"
    choice = Choice("openai", "m", url, "model.baseUrl is set.", api_key="sk-secret")
    assert described(choice) == (
        "m (openai at https://proxy.example:8443/v1). model.baseUrl is set."
    )


def test_a_choice_without_a_name_or_a_place() -> None:
    assert (
        described(Choice("ollama", "", "", "It runs.")) == "the first it lists (ollama). It runs."
    )
