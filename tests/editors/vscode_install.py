"""VS Code installed once with our extension, and the parameters of a process."""

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
    # Pages are saved automatically a moment later, without a visible sign.
    "files.autoSave": "off",
    # The file must have exactly the typed text.
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.minimap.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.lightbulb.enabled": "off",
}
"""The user's settings in every test; a test's settings override them."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed editor: made once a session.

    Attributes:
        node: The path of Node.
        entry: The script that Node runs as code-server.
        extensions: The folder in which our extension is installed.
    """

    node: Path
    entry: Path
    extensions: Path


@dataclass(frozen=True, slots=True)
class Start:
    """The parameters of a VS Code process.

    Attributes:
        installed: The installed editor.
        home: A folder of the test for home, XDG folders and the user's settings.
        root: The workspace folder.
        script: The model script, as the text of a `STET_SCRIPTED_MODEL` file; None uses the
            installed model.
        settings: The user's settings, in addition to `SETTINGS`.
        path: The folders of the PATH; Stet's folder is one of them.
        variables: More environment variables.
    """

    installed: Installed
    home: Path
    root: Path
    script: str | None = "[]"
    settings: Mapping[str, object] = field(default_factory=dict)
    path: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


def install(node: Path, entry: Path, vsix: Path, home: Path) -> Installed:
    """Install our extension with code-server, as a person would."""
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
    """Return the command line of code-server, with `home` for the user's files."""
    return [
        str(installed.node), str(installed.entry),
        "--user-data-dir", str(home / "user"), "--extensions-dir", str(installed.extensions),
        "--config", str(home / "config.yaml"), "--auth", "none", "--bind-addr", "127.0.0.1:0",
        "--disable-telemetry", "--disable-update-check",
    ]  # fmt: skip


def prepare(start: Start) -> None:
    """Write the settings and the model script of an editor."""
    # Stet's settings have machine scope: where VS Code serves a browser, as here, it reads them
    # from the machine's file, and drops them from the user's once it knows their scope.
    stets = {key: value for key, value in start.settings.items() if key.startswith("stet.")}
    others = {key: value for key, value in start.settings.items() if key not in stets}
    for name, settings in {"User": {**SETTINGS, **others}, "Machine": stets}.items():
        folder = start.home / "user" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings))
    if start.script is not None:
        (start.home / "script.json").write_text(start.script)


def environment(start: Start) -> dict[str, Any]:
    """Return an editor's environment: all folders of its user are in a folder of the test."""
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
        # Start as from a terminal: VS Code does not ask the login shell for a PATH.
        "VSCODE_CLI": "1",
        **({} if start.script is None else {"STET_SCRIPTED_MODEL": script}),
        **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in kinds},
        **start.variables,
    }
