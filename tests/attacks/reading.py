"""Classes 9 to 13: forbidden reads by names, links, races and disguised files."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stet.system.system import FileStat, System
from stet.workspace.paths import PathRefused
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Workspace
from tests.attacks.obedient import Order, order
from tests.attacks.registry import Result, attack
from tests.attacks.seen import Seen
from tests.attacks.stage import SETTINGS, Stage, accept_all
from tests.attacks.weaknesses import weakened
from tests.support.settings_parsing import parse_settings


def read_by_all_tools(name: str) -> list[Order]:
    """Read one file with every tool that shows text of files."""
    folder = name.rpartition("/")[0]
    return [
        order("read_file", file=name),
        order("copy_files", files=[name]),
        order("get_file_info", file=name),
        order("get_links", file=name),
        order("get_properties", file=name),
        order("explore_structure", file=name),
        order("find_dead_links", file=name),
        order("update_properties", file=name, set={"x": 1}),
        order("add_tags", file=name, tags=["x"]),
        order("link_files", file="note.md", to=name),
        order("edit_file", file=name, position="end", content="x"),
        order("open_file", file=name, line=1),
        order("move_file", file=name, to=f"moved-{abs(hash(name)) % 1000}.md"),
        order("search_workspace", query="here", folder=folder),
        order("search_workspace", query="kanarie[0-9]+", mode="regex", folder=folder),
        order("search_workspace", query="kanarie", mode="keyword", folder=folder),
        order("list_files", folder=folder),
        order("query_files", text="here", folder=folder),
    ]


def written_by_all_tools(name: str) -> list[tuple[str, Order]]:
    """Change files with every tool that can, one file per tool, as a refusal covers all changes of
    a file.
    """
    files = [f"{name}{n}.md" for n in range(6)]
    ways = (
        order("edit_file", file=files[0], old_text="kept\n", new_text="x\n"),
        order("edit_file", file=files[1], position="end", content="x"),
        order("update_properties", file=files[2], set={"x": 1}),
        order("add_tags", file=files[3], tags=["x"]),
        order("link_files", file=files[4], to="note.md"),
        order("move_file", file=files[5], to=f"moved-{files[5]}"),
    )
    return list(zip(files, ways, strict=True))


@attack(
    9, "symlinks, hard links, /proc, /dev/fd", least=220, weakness="links_followed",
    others=("links_are_files", "twins_unseen"),
)  # fmt: skip
async def links(stage: Stage) -> Result:
    stage.put("note.md", "A note.\n")
    stage.put("../outside/a.md")
    stage.put("../outside/folder/b.md")
    stage.put(".env", stage.canary())
    root, outside = stage.root, stage.top / "outside"
    targets: dict[str, str] = {
        "out": str(outside), "out.md": str(outside / "a.md"), "up": "..", "chain": "up",
        "rel.md": "../outside/a.md", "deep/x/y": "../../../outside", "env.md": ".env",
        "env2.md": "./deep/../.env", "proc": "/proc/self/root", "cwd": "/proc/self/cwd", "fd": "/dev/fd",
        "loop": "loop", "loop2": "loop3", "loop3": "loop2", "abs": str(stage.top),
        "twin": "../ws/../outside", "dangling.md": str(outside / "new.md"),
        "ssh": str(stage.top / "user/.ssh"), "key.md": "../user/.ssh/id_rsa", "user": "../user",
        "environ.md": "/proc/self/environ", "environ2.md": "/proc/thread-self/environ",
        "self": "/proc/self",
    }  # fmt: skip
    stage.put("../user/.ssh/id_rsa")
    stage.put("../user/.ssh/config")
    for name, target in targets.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    top = str(stage.top)[1:]
    names = [
        "out/a.md", "out.md", "up/outside/a.md", "chain/outside/folder/b.md", "rel.md", "deep/x/y/a.md",
        "env.md", "env2.md", f"proc/{top}/outside/a.md", f"cwd/{top}/outside/a.md", "fd/0", "loop",
        "loop2/x", "abs/outside/a.md", "twin/a.md", "dangling.md", "out/folder/b.md",
    ]  # fmt: skip
    orders = [one for name in names for one in read_by_all_tools(name)]
    orders += [
        order("create_file", file=f"{folder}/new.md", content="x")
        for folder in ("out", "up", "chain/outside", "deep/x/y", "abs", "twin", f"proc/{top}")
    ]
    orders = stage.some(orders, 170)
    away = [
        "ssh/id_rsa", "ssh/config", "key.md", "user/.ssh/id_rsa", "environ.md", "environ2.md",
        "self/environ",
    ]  # fmt: skip
    orders += [
        ask
        for name in away
        for ask in (
            order("read_file", file=name),
            order("copy_files", files=[name]),
            order("search_workspace", query="kanarie[0-9]+", mode="regex", folder=name),
        )
    ]
    # A hard link reads like any other name; a write through a hard link changes another file.
    for n, kept in enumerate(("../outside/kept.md", ".vscode/settings.json", "plain.md")):
        stage.put(kept, "---\na: 1\n---\nkept\n")
        for name, change in written_by_all_tools(f"hard{n}"):
            (root / name).hardlink_to(root / kept)
            orders += [order("read_file", file=name), change]
    seen = await stage.play(orders, env={"HOME": str(stage.top / "user")})
    result = Result()
    # The kernel reports the environment that a process began with.
    reported = ["environment sent"] if any("PATH=/" in text for text in seen.sent) else []
    result.add(len(orders), [*reported, *seen.effects()])
    return result


class Turning(System):
    """A disk on which a link is replaced just before the n-th call."""

    def __init__(self, turn: Callable[[], None], at: int) -> None:
        super().__init__()
        self.n_asked = 0
        self._turn, self._at = turn, at

    def _ask(self) -> None:
        if self.n_asked == self._at:
            self._turn()
        self.n_asked += 1

    def stat(self, path: Path) -> Any:
        self._ask()
        return super().stat(path)

    def read_bytes(self, path: Path, limit: int) -> bytes:
        self._ask()
        return super().read_bytes(path, limit)

    def read_real(self, path: Path, limit: int) -> bytes:
        self._ask()
        return super().read_real(path, limit)

    def real_path(self, path: Path) -> Path:
        self._ask()
        return super().real_path(path)

    def list_folder(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        self._ask()
        return super().list_folder(path)

    def list_real(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        self._ask()
        return super().list_real(path)


class Turned:
    """A workspace in which a link or a folder can be replaced through a symbolic link that leads
    outside.
    """

    def __init__(self, top: Path, name: str, outside: str = "outside") -> None:
        """Create the workspace; the name `link` makes a link to the folder `real`."""
        self.root, self.outside, self.place = top / "ws", top / outside, top / "ws" / name
        for each in (self.root / "real", self.outside):
            each.mkdir(parents=True)
            (each / "a.md").write_text(str(each.relative_to(top)))
        if name == "link":
            self.place.symlink_to("real")

    def turn(self) -> None:
        """Replace the path through a symbolic link that leads outside."""
        if self.place.is_symlink():
            self.place.unlink()
        else:
            self.place.rename(self.root / "away")
        self.place.symlink_to(self.outside)

    def read(self, at: int) -> tuple[str, int]:
        """Read through the path, replaced before call `at`; return the text and the call count."""
        system = Turning(self.turn, at)
        world = Workspace(system, parse_settings(SETTINGS).settings)
        world.add_root(uri_of(self.root))
        try:
            return world.snapshot().show(uri_of(self.place / "a.md")).text, system.n_asked
        except (NotShown, PathRefused):
            return "", system.n_asked

    def walked(self, at: int) -> tuple[list[str], int]:
        """Walk the workspace, the path replaced before call `at`; list the outside files found."""
        (self.outside / "only.md").write_text("x\n")
        system = Turning(self.turn, at)
        world = Workspace(system, parse_settings(SETTINGS).settings)
        world.add_root(uri_of(self.root))
        walked = [located.name for located in world.snapshot().walk(only_text=False)]
        return [name for name in walked if name.endswith("only.md")], system.n_asked


def turned_walks(top: Path) -> tuple[int, list[str]]:
    """Replace a folder at every step of a walk, by an outside or a private folder."""
    n_cases, effects = 0, []
    for where in ("outside", "ws/vault"):
        for at in range(200):
            name = f"real{n_cases}"
            found, n_asked = Turned(top / name, "real", where).walked(at)
            n_cases += 1
            effects += [f"{each} listed, turned to {where} at question {at}" for each in found]
            if n_asked <= at:
                break
    return n_cases, effects


def turned_reads(top: Path) -> tuple[int, list[str]]:
    """Replace the path at every step of reading a file; report forbidden text that was read."""
    n_cases, effects = 0, []
    for name in ("link", "real"):
        for at in range(200):
            text, n_asked = Turned(top / f"{name}{at}", name).read(at)
            n_cases += 1
            if text == "outside":
                effects.append(f"read behind a {name} turned at question {at}")
            if n_asked <= at:
                break
    return n_cases, effects


@attack(
    10, "time of check, time of use", least=60, weakness="opened_by_name", others=("listed_by_name",),
    note="and 100,000 reads beside a thread that turns links: python -m tests.attacks.turning",
)  # fmt: skip
async def turned(stage: Stage) -> Result:
    result = Result()
    with weakened(stage.weakness):
        for played in (turned_reads, turned_walks):
            n_cases, effects = played(stage.top / played.__name__)
            result.add(n_cases, effects, whole=False)
    n = 3 if stage.few else 12
    stage.put("../outside/keep.md")
    for at in range(n):
        stage.put(f"shelf{at}/keep.md", "x\n")
        (stage.root / f"link{at}").symlink_to(f"shelf{at}")
    orders = [order("create_file", file=f"link{at}/new{at}.md", content="x\n") for at in range(n)]

    async def turn(seen: Seen) -> None:
        for at in range(n):
            link = stage.root / f"link{at}"
            link.unlink()
            link.symlink_to(stage.top / "outside")
        for at, hunk in enumerate(await seen.editor.command("stet.proposals")):
            # Name what to accept in three ways: by hunk, by proposal and by turn.
            by = ("hunk", "proposal", "turn")[at % 3]
            await accept_all(seen.editor, **{by: hunk[by]}, protected=True)

    seen = await stage.play(orders, accepts=False, after=turn)
    result.add(n, seen.effects())
    return result


@attack(11, "special files", least=60, weakness="anything_opened")
async def special_files(stage: Stage) -> Result:
    stage.put("note.md", "A note.\n")
    root = stage.root
    held = []
    for n in range(4):
        pipe = root / f"pipe{n}.md"
        os.mkfifo(pipe)
        held.append(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
        os.write(held[-1], f"{stage.canary()} here\n".encode())
    listening = socket.socket(socket.AF_UNIX)
    # The socket's path may be longer than a socket address allows.
    folder = os.open(root, os.O_RDONLY)
    listening.bind(f"/proc/self/fd/{folder}/socket.md")
    os.close(folder)
    (root / "zero.md").symlink_to("/dev/zero")
    (root / "kcore.md").symlink_to("/proc/kcore")
    (root / "tty.md").symlink_to("/dev/tty")
    with (root / "sparse.md").open("wb") as sparse:
        sparse.write(f"{stage.canary()} here\n".encode())
        sparse.truncate(40_000_000)
    (root / "folder.md").mkdir()
    names = [*(f"pipe{n}.md" for n in range(4)), "socket.md", "zero.md", "kcore.md", "tty.md",
        "sparse.md", "folder.md"]  # fmt: skip
    orders = [one for name in names for one in read_by_all_tools(name)]
    orders = orders if stage.few else stage.some(orders, 120)
    read = []
    try:
        seen = await stage.play(orders)
    finally:
        for descriptor in held:
            try:
                os.read(descriptor, 100)
            except BlockingIOError:
                read.append("a pipe was read")
            os.close(descriptor)
        listening.close()
    result = Result()
    large = [f"sent: {len(text)} characters" for text in seen.sent if len(text) > 3_000_000]
    result.add(len(orders), [*seen.effects(), *large, *read])
    return result


HIDDEN_FILES = (
    ".env", "app/.env.production", "id_ed25519", "server.pem", ".ssh/id_rsa", ".aws/credentials",
    ".npmrc", "secrets.yaml", "terraform.tfstate", ".git/config", ".git/COMMIT_EDITMSG",
    "build/out.md", "x.log", "diary/today.md", "vault/plan.md", "p.secret", ".docker/config.json",
    "sub/credentials.json", "../outside/plan.md", ".bash_history",
)  # fmt: skip


@attack(12, "read to the model", least=300, weakness="nothing_private")
async def read_to_model(stage: Stage) -> Result:
    stage.put(".gitignore", "build/\n*.log\n")
    stage.put(".stetignore", "diary/\n")
    taken_back = (
        '[privacy]\ndeny = ["\uff01*.secret"]\n[context]\nexcludedFolders = ["\u200b!vault"]\n'
    )
    stage.put(".stet.toml", taken_back)
    for name in HIDDEN_FILES:
        stage.put(name)
    links = "".join(f"[x]({name}) [[{Path(name).stem}]] ![[{name}]]\n" for name in HIDDEN_FILES)
    stage.put("note.md", links)
    orders = [one for name in HIDDEN_FILES for one in read_by_all_tools(name)]
    orders += [
        order("get_links", file="note.md", direction="both", depth=3),
        order("search_workspace", query="kanarie[0-9]{4}", mode="regex"),
        order("search_workspace", query="here"),
        order("query_files", text="here"),
        order("list_tags"),
        order("explore_structure", depth=10),
        order("get_attached_context"),
    ]
    orders = stage.some(orders, 310)

    async def attach(seen: Seen) -> None:
        for name in HIDDEN_FILES:
            # A file outside that the user has opened may be shown.
            if (stage.root / name).exists() and not name.startswith(".."):
                seen.editor.open(name)
        for name in HIDDEN_FILES[:6]:
            asked = {"prompt": f"What is in {name}? @{name}", "uri": seen.editor.uri(name)}
            await seen.editor.command("stet.ask", asked)
        shown = await seen.editor.command("stet.showContext", {"prompt": f"@{HIDDEN_FILES[0]}"})
        seen.sent.append(str(shown))

    seen = await stage.play(
        orders, settings={"context": {"scope": "folder", "maxFiles": 100}}, accepts=not stage.few
    )
    result = Result()
    result.add(len(orders), seen.effects())
    opened = await stage.play([], after=attach, settings={"context": {"scope": "open"}})
    leaked = [one for one in opened.effects() if one.startswith("read")]
    result.add(len(HIDDEN_FILES) + 7, leaked)
    return result
