"""A workspace of a test, and a shadow of it with unsaved text, for an agent to work in."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Scene:
    """Four folders beside each other.

    Attributes:
        workspace: Where the agent works: the file `a.txt`, as it was saved.
        shadow: The same file, as it would be in the editor.
        home: The home folder of the agent, empty.
        notes: Where the hooks keep their rules and log.
    """

    workspace: Path
    shadow: Path
    home: Path
    notes: Path

    @classmethod
    def make(cls, folder: Path) -> "Scene":
        """Make the folders and files in a folder."""
        scene = cls(*(folder.resolve() / name for name in ("workspace", "shadow", "home", "notes")))
        for one in (scene.workspace, scene.shadow, scene.home, scene.notes):
            one.mkdir()
        (scene.workspace / "a.txt").write_text("one\ntwo\n")
        (scene.shadow / "a.txt").write_text("one, unsaved\ntwo\n")
        return scene

    def shown(self, value: Any) -> Any:
        """Return a JSON value with the names of the folders in the place of their paths."""
        text = json.dumps(value)
        for name in ("workspace", "shadow", "home"):
            text = text.replace(str(getattr(self, name)), name.upper())
        return json.loads(text)


def texts(folder: Path) -> dict[str, str]:
    """Return the text of each file of a folder."""
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}
