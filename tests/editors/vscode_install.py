"""VS Code installed once, with our extension, and what one editor of it starts with."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SETTINGS: Mapping[str, object] = {
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.enableExperiments": False,
    "chat.disableAIFeatures": True,
    "extensions.webWorker": False,
    "telemetry.telemetryLevel": "off",
    # A page saves by itself a moment later, and shows nothing of it.
    "files.autoSave": "off",
    # What is typed is what is in the file.
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.minimap.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.lightbulb.enabled": "off",
}
"""The user's settings in every test; a test's own come on top."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What every test starts: made once a session.

    Attributes:
        node: The program.
        entry: The script that it runs as code-server.
        extensions: The folder our extension is installed in.
    """

    node: Path
    entry: Path
    extensions: Path


@dataclass(frozen=True, slots=True)
class Start:
    """What an editor starts with.

    Attributes:
        installed: The editor.
        home: A folder of the test's own; becomes home, XDG folders and the user's settings.
        root: The workspace.
        script: What the model says, as the text of a `STET_SCRIPTED_MODEL` file; None is the model that
            is found.
        settings: The user's, beside `SETTINGS`.
        path: The folders that programs are looked for in; Stet's own is one of them.
    """

    installed: Installed
    home: Path
    root: Path
    script: str | None = "[]"
    settings: Mapping[str, object] = field(default_factory=dict)
    path: str = ""


def install(node: Path, entry: Path, vsix: Path, home: Path) -> Installed:
    """Have code-server install our extension, as a person would."""
    installed = Installed(node, entry, home / "extensions")
    command = command_line(installed, home)
    done = subprocess.run(
        [*command, "--install-extension", str(vsix)],
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "successfully installed" in done.stdout, f"{done.stdout}\n{done.stderr}"
    return installed


def command_line(installed: Installed, home: Path) -> list[str]:
    """How code-server is run, with this folder for what is its user's."""
    return [
        str(installed.node), str(installed.entry),
        "--user-data-dir", str(home / "user"), "--extensions-dir", str(installed.extensions),
        "--config", str(home / "config.yaml"), "--auth", "none", "--bind-addr", "127.0.0.1:0",
        "--disable-telemetry", "--disable-update-check",
    ]  # fmt: skip


def prepare(start: Start) -> None:
    """Write the settings and the script that an editor starts with."""
    # Stet's settings are a machine's: where VS Code serves a browser, as here, it takes them from the
    # machine's own file, and drops them from the user's once it knows what they are.
    stets = {key: value for key, value in start.settings.items() if key.startswith("stet.")}
    others = {key: value for key, value in start.settings.items() if key not in stets}
    for name, settings in {"User": {**SETTINGS, **others}, "Machine": stets}.items():
        folder = start.home / "user" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings))
    if start.script is not None:
        (start.home / "script.json").write_text(start.script)


def environment(start: Start) -> dict[str, Any]:
    """What an editor finds in its environment: everything of its user's in a folder of the test's."""
    home = start.home / "home"
    home.mkdir(exist_ok=True)
    kinds = ("CONFIG", "DATA", "STATE", "CACHE")
    script = str(start.home / "script.json")
    return {
        "HOME": str(home),
        "PATH": start.path
        or os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "LANG": "C.UTF-8",
        "SHELL": shutil.which("sh") or "/bin/sh",
        # As when it is started from a terminal: the login shell is not asked for another PATH.
        "VSCODE_CLI": "1",
        **({} if start.script is None else {"STET_SCRIPTED_MODEL": script}),
        **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in kinds},
    }
