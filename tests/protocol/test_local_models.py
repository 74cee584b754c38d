"""`model.provider` "local": a turn with any GGUF file, and the sentences if there is none."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.gguf_files import QWEN, write_gguf
from tests.support.live_turns import run
from tests.support.local_models import small_model
from tests.support.tiny_weights import REVISION

TEXT = "The new parser are faster than the old one, and it use less memory.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    return folder


async def ask(root: Path, name: str) -> dict[str, object]:
    """Run a rewrite with the local model of this name; return the turn and its hunks."""
    settings = {"model": {"provider": "local", "name": name}}
    async with FakeEditor.start(root, settings=settings) as editor:
        uri = editor.open("a.md", TEXT)
        turn = await run(
            editor, "Correct the grammar.", mode="rewrite", uri=uri, **{"from": 1, "to": 1}
        )
        hunks = await editor.command("stet.proposals")
        status = await editor.command("stet.status")
    return {**turn, "new": [hunk["new"] for hunk in hunks], "why": status["why"]}


@pytest.mark.slow
async def test_turn_uses_the_gguf_file_at_the_path_of_the_setting(root: Path) -> None:
    path = small_model().path
    turn = await ask(root, str(path))
    assert (turn["state"], turn["model"]) == ("completed", path.stem), turn["error"]
    assert turn["new"] == ["The new parser is faster than the old one, and it uses less memory.\n"]
    assert str(turn["why"]).startswith(f"model.name is {str(path)!r}. ")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("medium", "The local model 'medium' is not installed: run `stet model install medium`."),
        ("tiny.gguf", "model.name 'tiny.gguf' is a relative path: write the full path."),
        (f"hf:a/b/c.gguf@{REVISION}", f"run `stet model install hf:a/b/c.gguf@{REVISION}`."),
        ("base", "has no chat template"),
        ("new", "may not know the family 'newfamily'"),
    ],
)
async def test_turn_without_a_usable_model_says_what_to_do(
    root: Path, tmp_path: Path, name: str, sentence: str
) -> None:
    pytest.importorskip("xllamacpp")
    values = {key.replace("qwen2", "newfamily"): value for key, value in QWEN.items()}
    new = values | {"general.architecture": "newfamily"}
    base = {key: value for key, value in QWEN.items() if key != "tokenizer.chat_template"}
    files = {"new": new, "base": base}
    given = str(write_gguf(tmp_path / f"{name}.gguf", files[name])) if name in files else name
    turn = await ask(root, given)
    assert turn["state"] == "failed"
    assert sentence in str(turn["error"])
