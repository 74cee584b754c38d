"""Programs of a newer Debian suite, unpacked beside the system; it needs no root and changes
nothing.

A private apt state reads the suite from the archive, with the keyring and proxy, that this
machine's own apt uses. The packages are unpacked with `dpkg -x`, and a program runs through the C
library's loader that was unpacked with it, since it is newer than the machine's.
"""

import contextlib
import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.parts.kept import MissingPart, cache, kept

APT = Path("/etc/apt")
SECONDS = 600
"""How long one step of apt's may take before the part counts as missing."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A folder of unpacked packages, like the root of a small system.

    Attributes:
        root: The folder; `usr/bin` and the rest are in it.
        version: The version of the first package, without its epoch.
    """

    root: Path
    version: str

    def command(self, program: str, *, argv0: str | None = None) -> list[str]:
        """The beginning of a command line that runs a program with its own C library.

        Args:
            program: The program's path below the root, for example `usr/bin/hx`.
            argv0: The name the program sees itself called by; by default its path.

        Raises:
            MissingPart: The packages have no loader, so `libc6` isn't one of them.
        """
        loaders = [
            found
            for folder in ("usr/lib64", "lib64", "usr/lib", "lib")
            for found in sorted((self.root / folder).glob("ld-linux*.so.*"))
        ]
        if not loaders:
            raise MissingPart(f"no loader is unpacked in {self.root}: add 'libc6' to the packages")
        named = [] if argv0 is None else ["--argv0", argv0]
        return [
            str(loaders[0]),
            "--library-path",
            self.library_path(),
            *named,
            str(self.root / program),
        ]

    def library_path(self) -> str:
        """The folders of its shared libraries, with colons in between."""
        folders = (
            found
            for folder in ("usr/lib", "lib")
            for found in sorted((self.root / folder).glob("*-linux-gnu*"))
        )
        return ":".join(str(folder) for folder in folders if folder.is_dir())


def unpacked(
    name: str, suite: str | None, packages: tuple[str, ...], *, dependencies: bool = False
) -> Unpacked:
    """The packages as a suite has them; what was unpacked once stays, also when the suite moves on.

    Args:
        name: What the part is called; its folder's name says the suite and the version, too.
        suite: The suite's code name, for example `trixie` or `sid`; None is the machine's own.
        packages: Their names; the version of the first is the version of the part.
        dependencies: Whether all they depend on is unpacked, too, down to the C library.

    Raises:
        MissingPart: This isn't a Debian with apt, or its archive doesn't have the suite or one of
            the packages, or can't be reached.
    """
    for tool in ("apt-get", "apt-cache", "apt-config", "dpkg"):
        if shutil.which(tool) is None:
            raise MissingPart(f"{name} is unpacked from Debian packages, and {tool!r} isn't here")
    chosen = suite or code_name()
    architecture = _run(["dpkg", "--print-architecture"], cache()).strip()
    inside = hashlib.sha256(repr((packages, dependencies)).encode()).hexdigest()[:8]
    before, after = f"{name}-{chosen}-", f"-{architecture}-{inside}"
    for there in sorted(cache().glob(f"{before}*{after}")):
        return Unpacked(there, there.name.removeprefix(before).removesuffix(after))
    failed = [f"apt's sources in {APT} name no archive of {code_name()!r} to read {chosen!r} from"]
    for archive in archives(APT, code_name(), chosen):
        try:
            with _private(archive) as apt:
                version = apt.version(packages[0])
                folder = kept(
                    f"{before}{version}{after}",
                    partial(apt.unpack, packages, dependencies=dependencies),
                )
        except MissingPart as error:
            # A stranger's archive may name its suites as Debian does: the next one is tried.
            failed.append(f"the suite {chosen!r} doesn't give {name!r}: {error}")
            continue
        return Unpacked(folder, version)
    raise MissingPart(failed[-1])


def code_name() -> str:
    """The code name of this machine's own suite, for example `bookworm`.

    Raises:
        MissingPart: The machine doesn't say one.
    """
    release = Path("/etc/os-release")
    text = release.read_text() if release.is_file() else ""
    named = re.search(r'^VERSION_CODENAME="?([\w-]+)', text, re.MULTILINE)
    if named is None:
        raise MissingPart(f"{release} names no VERSION_CODENAME: this is no Debian release")
    return named[1]


@dataclass(frozen=True, slots=True)
class Archive:
    """An entry of apt's sources, turned to another suite.

    Attributes:
        entry: Its text.
        suffix: The suffix of the file it belongs in, which decides on its format.
    """

    entry: str
    suffix: str


def archives(etc: Path, own: str, suite: str) -> Iterator[Archive]:
    """The archives of the suite `own` in a folder of apt's settings, turned to another suite."""
    for file in (etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))):
        for line in file.read_text().splitlines() if file.is_file() else ():
            if (turned := one_line(line, own, suite)) is not None:
                yield Archive(turned, "list")
    for file in sorted((etc / "sources.list.d").glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", file.read_text()):
            if (turned := deb822(stanza, own, suite)) is not None:
                yield Archive(turned, "sources")


def one_line(line: str, own: str, suite: str) -> str | None:
    """A line of a `sources.list` with another suite; None if it isn't the archive of `own`."""
    entry = re.fullmatch(r"\s*deb\s+(\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)", line)
    if entry is None or entry[3] != own or "main" not in entry[4].split():
        return None
    return None if entry[2].startswith("cdrom:") else f"deb {entry[1] or ''}{entry[2]} {suite} main"


def deb822(stanza: str, own: str, suite: str) -> str | None:
    """A stanza of a `.sources` file with another suite; None if it isn't the archive of `own`."""
    text = "\n".join(line for line in stanza.splitlines() if not line.startswith("#"))
    fields = {
        field[1].lower(): field[2]
        for field in re.finditer(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", text, re.MULTILINE)
    }
    needed = {"types": "deb", "suites": own, "components": "main"}
    if fields.get("enabled", "yes").strip().lower() in {"no", "false", "0"}:
        return None
    if any(value not in fields.get(name, "").split() for name, value in needed.items()):
        return None
    turned = fields | {"types": " deb", "suites": f" {suite}", "components": " main"}
    return "\n".join(f"{name}:{value}" for name, value in turned.items())


@dataclass(frozen=True, slots=True)
class _Apt:
    """An apt of its own: its state, cache and settings lie in one folder."""

    folder: Path

    def run(self, *command: str, within: str = ".") -> str:
        """The output of a command of apt's, run within a folder of its own."""
        setting = f"APT_CONFIG={self.folder / 'apt.conf'}"
        return _run(["env", setting, *command], self.folder / within)

    def version(self, package: str) -> str:
        """The version the suite has, without an epoch.

        Raises:
            MissingPart: It has no such package.
        """
        shown = self.run("apt-cache", "show", "--no-all-versions", package)
        message = re.search(r"^Version: (?:\d+:)?(\S+)$", shown, re.MULTILINE)
        if message is None:
            raise MissingPart(f"there is no package {package!r}")
        return message[1]

    def unpack(self, packages: tuple[str, ...], root: Path, *, dependencies: bool) -> None:
        """Downloads the packages and unpacks them into a folder."""
        archives = "cache/archives"
        if dependencies:
            fetch = ["apt-get", "-q", "-y", "--no-install-recommends", "--download-only", "install"]
        else:
            fetch = ["apt-get", "-q", "download"]
        self.run(*fetch, *packages, within=archives)
        for archive in sorted((self.folder / archives).glob("*.deb")):
            _run(["dpkg", "-x", str(archive), str(root)], root)


@contextlib.contextmanager
def _private(archive: Archive) -> Iterator[_Apt]:
    """An apt that knows only one suite of one archive; gone afterwards.

    Raises:
        MissingPart: It can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="apt-", dir=cache()) as made:
        folder = Path(made)
        for inner in ("sources", "lists/partial", "cache/archives/partial"):
            (folder / inner).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources" / f"suite.{archive.suffix}").write_text(archive.entry + "\n")
        (folder / "apt.conf").write_text(_settings(folder))
        apt = _Apt(folder)
        apt.run("apt-get", "-q", "update")
        yield apt


def _settings(folder: Path) -> str:
    """The private apt's settings: the machine's for fetching, and nothing else of the machine's.

    The rest would do things to the system, such as the commands to run after an update.
    """
    fetching = [
        line
        for line in _run(["apt-config", "dump"], folder).splitlines()
        if line.startswith("Acquire::") and not line.startswith("Acquire::IndexTargets")
    ]
    own = {
        "Dir::Etc::main": "/dev/null",
        "Dir::Etc::parts": "/dev/null",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "sources",
        "Dir::State": folder,
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Log": folder,
        "Acquire::Languages": "none",
        # By default a suite that can't be read is no error.
        "APT::Update::Error-Mode": "any",
        # Root's apt would fetch as a user who can't write into this folder.
        "APT::Sandbox::User": "root",
    }
    return "\n".join([*fetching, *(f'{key} "{value}";' for key, value in own.items()), ""])


def _run(command: list[str], folder: Path) -> str:
    """The output of a command that ends well.

    Raises:
        MissingPart: It doesn't; with the last lines it wrote.
    """
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingPart(f"{command} took more than {SECONDS} s") from error
    if done.returncode:
        message = " ".join((done.stderr or done.stdout).splitlines()[-3:])
        raise MissingPart(f"{command} failed: {message}")
    return done.stdout
