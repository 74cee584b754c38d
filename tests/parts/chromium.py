"""Chromium: the machine's own, or Debian's, unpacked beside the system.

The unpacked one runs with the machine's C library and loader, since it starts itself again by its
own name; so it is that of the machine's own suite. Where that doesn't run, CI installs the package.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.parts.debian import unpacked
from tests.parts.kept import MissingPart

ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("chromium", "libpulse0", "fontconfig-config", "fonts-dejavu-core")
SECONDS = 120
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
)  # fmt: skip
"""For a browser that only visits this machine, also as root and in a container."""


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser.

    Attributes:
        program: Its absolute path.
        environment: What it needs besides an ordinary environment.
    """

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@cache
def ensure() -> Chromium:
    """A browser that runs.

    Raises:
        MissingPart: None is on the PATH, and Debian's can't be had here or doesn't run.
    """
    if (there := _on_path()) is not None:
        return there
    try:
        return _checked(_unpacked())
    except MissingPart:
        if not os.environ.get("CI") or os.geteuid() != 0 or not shutil.which("apt-get"):
            raise
        return _installed()


def _on_path() -> Chromium | None:
    for name in ON_PATH:
        if found := shutil.which(name):
            try:
                return _checked(Chromium(Path(found)))
            except MissingPart:
                continue  # Ubuntu's is a stand-in that asks for snap.
    return None


def _unpacked() -> Chromium:
    part = unpacked("chromium", None, PACKAGES, dependencies=True)
    libraries = [Path(folder) for folder in part.library_path().split(":")]
    libraries += [folder / "pulseaudio" for folder in libraries]
    beside = part.root.with_name(f"{part.root.name}.lib")
    _link(libraries, beside)
    environment = {"LD_LIBRARY_PATH": str(beside), "FONTCONFIG_SYSROOT": str(part.root)}
    return Chromium(part.root / "usr/lib/chromium/chromium", environment)


def _link(folders: list[Path], beside: Path) -> None:
    """Make one folder of all libraries but the C library's, which has to fit the machine's
    loader.
    """
    beside.mkdir(exist_ok=True)
    own = {
        f"{name}.so.{number}"
        for name, number in (
            ("libc", 6), ("libm", 6), ("libmvec", 1), ("libpthread", 0), ("libdl", 2),
            ("librt", 1), ("libresolv", 2), ("libutil", 1), ("libanl", 1),
            ("ld-linux-x86-64", 2), ("ld-linux-aarch64", 1),
        )
    }  # fmt: skip
    for library in (one for folder in folders for one in sorted(folder.glob("*.so*"))):
        link = beside / library.name
        if library.name not in own and not library.name.startswith("libnss_") and not link.exists():
            link.symlink_to(library)


def _installed() -> Chromium:
    """The package, into the system: on a machine that is thrown away anyway."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        done = subprocess.run(
            ["apt-get", "-q", *command], env=environment, capture_output=True, check=False
        )
        if done.returncode:
            raise MissingPart(f"apt-get {command[0]} failed: {done.stderr.decode()[-300:]}")
    there = _on_path()
    if there is None:
        raise MissingPart("apt-get has installed a chromium that doesn't run")
    return there


def _checked(browser: Chromium) -> Chromium:
    """The browser, if it draws a page.

    Raises:
        MissingPart: With what it said.
    """
    command = [str(browser.program), *FLAGS, "--dump-dom", "data:text/html,<p>it draws"]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **browser.environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingPart(f"{browser.program} doesn't run: {error}") from error
    if "<p>it draws</p>" not in done.stdout:
        raise MissingPart(f"{browser.program} draws nothing: {done.stderr[-300:]}")
    return browser
