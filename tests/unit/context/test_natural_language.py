import pytest

from stet.context.natural_language import detect_language, detect_workspace_language
from tests.support.workspaces import make_workspace

GERMAN = "Das ist ein Text, der nicht lang ist, und er wird mit den Augen gelesen. Die Sonne scheint auf das Haus."
TEXTS = {
    "English": "This is a text that is not long, and it is read with the eyes. The sun shines on the house.",
    "German": GERMAN,
    "French": "Ceci est un texte qui n'est pas long, et il est lu avec les yeux. Le soleil brille sur la maison et dans le jardin.",
    "Spanish": "Este es un texto que no es muy largo, y se lee con los ojos. El sol brilla en la casa y por las calles del pueblo.",
    "Italian": "Questo è un testo che non è lungo, e si legge con gli occhi. Il sole splende sulla casa e nel giardino della villa.",
    "Polish": "To jest tekst, który nie jest długi, i czyta się go po cichu, ale nie za szybko. Słońce świeci na dom.",
    "Russian": "Это текст, который не очень длинный, и его читают глазами.",  # noqa: RUF001
    "Japanese": "これは長くない文章で、目で読まれます。",
    "Chinese": "这是一段不长的文字，用眼睛阅读。",  # noqa: RUF001
}


@pytest.mark.parametrize("language", TEXTS)
def test_language_of_a_short_text_is_detected(language: str) -> None:
    assert detect_language(TEXTS[language]) == language


@pytest.mark.parametrize("text", ["", "x = 1", "a b c d e f g h i j", "lorem ipsum dolor"])
def test_uncertain_language_is_not_guessed(text: str) -> None:
    assert detect_language(text) is None


def test_language_of_a_workspace_is_that_of_its_notes() -> None:
    world = make_workspace(
        {"/ws/README.md": GERMAN, "/ws/a.py": "# the of and to in is that for\n" * 9}
    )
    assert detect_workspace_language(world.snapshot()) == "German"
    assert detect_workspace_language(make_workspace({"/ws/a.py": "x\n"}).snapshot()) is None
