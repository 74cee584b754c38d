"""Class 40: what a program in an overlay (`stet run`) may leave behind, see and reach."""

import asyncio
import os
import sys
from pathlib import Path

from tests.attacks.doors import ControlDoor, after_review, descriptor_of, runtime_env
from tests.attacks.hook_calls import PROTECTED, make_workspace
from tests.attacks.registry import Result, attack
from tests.attacks.seen import Seen, touched
from tests.attacks.stage import Stage
from tests.parts.isolation import isolation
from tests.support.live_turns import states
from tests.support.shell import STET, Shell

DECISIONS = ("stet.accept", "stet.reject", "stet.undo", "stet.restore")
_ASK = """
import os, socket, sys
folder, line = sys.argv[1:]
os.chdir(folder)
[name] = [one for one in os.listdir() if one.endswith(".sock")]
client = socket.socket(socket.AF_UNIX)
client.connect(name)
client.sendall(line.encode() + b"\\n")
print(client.recv(100_000).decode())
"""
_ATTRIBUTES = """
import os
for name in ("opaque", "redirect", "origin", "metacopy", "whiteout"):
    for space in ("user", "trusted"):
        try:
            os.setxattr("sub", f"{space}.overlay.{name}", b"/../outside")
            os.setxattr("a.txt", f"{space}.overlay.{name}", b"y")
        except OSError:
            pass
"""
LEFT = (
    "ln -s ../secret.txt link1", "ln -s TOP/secret.txt link2", "ln -s TOP/ws/.env link3", "ln -s TOP above", "ln -sf ../secret.txt to-env.txt", "ln -s .. folder", "ln -s /etc etc",
    "rm a.txt; ln -s ../secret.txt a.txt", "rm -r sub; ln -s ../../outside sub", "ln -s /dev/zero zero", "mkfifo pipe",
    "ln -s /proc/self/root root", "mknod device c 1 5", "mknod white c 0 0", "ln ../secret.txt hard",
    "echo x >set.txt; chmod 6777 set.txt", "cp /bin/sh shell; chmod 4755 shell", "head -c 3000000 /dev/zero >zeros",
    "printf '\\377\\376' >latin", "printf 'x\\0y' >nul", "echo x >.git/config", "mkdir .ssh; echo x >.ssh/config",
    "echo x >.git/hooks/pre-commit", "echo x >.env", "mv sub/plain.txt .env.local", "cp a.txt .npmrc", "chmod 0 a.txt",
    "n=0; while [ $n -lt 150 ]; do mkdir -p zz && cd zz; n=$((n+1)); done; echo x >deep", "ln -s loop loop",
    *(f"mkdir -p \"$(dirname {name})\"; echo 'run: evil' >{name}" for name in PROTECTED),
)  # fmt: skip
"""Shell commands that put something into the upper layer."""
NAMES = (
    "a\\nb",
    "a\\033[2Jb",
    "a\\342\\200\\256b",
    "\\033]0;t\\007",
    "a\\342\\200\\213b",
    "con",
    "x. ",
    "\\377",
)
SEEN = (
    "cat .env", "cat sub/../.env", "cat to-env.txt", "cat /proc/self/root$PWD/.env", "cat $OLDPWD/.env", "cat ./*env*",
    "mv .env shown", "cp -a .env shown", "ln .env shown; cat shown", "cat /proc/self/cwd/.env", "grep -r kanarie . -h --include='.e*'",
    "cat /proc/$PPID/root$PWD/.env", "cat /proc/$PPID/cwd/.env", "cat /proc/SERVER/root$PWD/.env", "cat /proc/SERVER/cwd/.env",
    "umount . ; cat .env", "umount -l $PWD; cat $PWD/.env", "cd / && umount -l WS; cat WS/.env",
    "unshare -Urm sh -c 'umount -l WS; cat WS/.env'", "nsenter -t SERVER -m cat WS/.env", "nsenter -t SERVER -U -m cat WS/.env",
    "mkdir m; mount --bind .. m; cat m/ws/.env", "chroot /proc/SERVER/root cat WS/.env", "tar c .env 2>/dev/null | tr -d '\\0'",
    "exec 3</proc/SERVER/fd; cat <&3", "ls -R LAYERS | head; cat LAYERS/*/*/*/seed/.env", "rm -rf LAYERS/*; echo x >LAYERS/x",
)  # fmt: skip
"""Shell commands that show a hidden file, if one does."""


def script(stage: Stage, door: ControlDoor) -> tuple[str, int]:
    """Write the script of the program; return it, and the number of its attacks."""
    folder = Path(door.descriptor.socket).parent
    home = stage.top / "home"
    layers = home / "cache_home" / "stet" / "isolated"
    ask = home / "ask.py"
    ask.write_text(_ASK)
    attributes = home / "attributes.py"
    attributes.write_text(_ATTRIBUTES)
    stet = " ".join(STET)
    lines = [f"{sys.executable} {attributes}", *SEEN, *LEFT]
    lines += [f"echo x >\"$(printf '{name}')\"" for name in NAMES]
    for method in DECISIONS if stage.weakness in {"", "programs_decide"} else ():
        for more in ('"all": true, "protected": true', '"file": "pending.txt"', '"hunk": "h1"'):
            request = f'{{"id": 1, "method": "{method}", "params": [{{{more}}}]}}'
            lines.append(f"{sys.executable} {ask} {folder} '{request}'")
    lines += [f"{stet} accept --all", f"{stet} reject --all", f"setsid {stet} accept --all"]
    texts = [f"file://{stage.root}/.env", f"file://{stage.top}/secret.txt"]
    for uri in texts:
        request = f'{{"id": 1, "method": "control.text", "params": [{{"uri": "{uri}"}}]}}'
        lines.append(f"{sys.executable} {ask} {folder} '{request}'")
    whole = "\n".join(f"( {line} ) </dev/null" for line in lines)
    for word, value in (
        ("SERVER", door.descriptor.pid),
        ("LAYERS", layers),
        ("WS", stage.root),
        ("TOP", stage.top),
    ):
        whole = whole.replace(word, str(value))
    return whole, len(lines)


@attack(
    40, "programs in an overlay", least=60, weakness="programs_decide",
    others=("secrets_shown", "layer_links_read", "nothing_protected"), needs=isolation,
)  # fmt: skip
async def isolated_programs(stage: Stage) -> Result:
    result = Result()
    make_workspace(stage)
    n_cases = 0
    env = runtime_env(stage)

    async def attack_all(seen: Seen) -> None:
        nonlocal n_cases
        door = ControlDoor(seen, await descriptor_of(stage, seen.editor))
        pending = {"path": "pending.txt", "content": "waits\n"}
        await door.ask(
            "control.tool", {"session": "0" * 16, "tool": "propose_file", "arguments": pending}
        )
        [waiting] = await states(seen.editor)
        text, n_cases = script(stage, door)
        shell = Shell(stage.root, {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **env})
        ended = await asyncio.to_thread(shell.run, "run", "sh", "-c", text)
        seen.sent += [ended.stdout]
        reported = ended.stderr.partition("\nstet: ")[2]
        seen.faults += [f"raw: {reported!a:.300}"] if "\x1b" in reported else []
        if (await states(seen.editor))[waiting] != "pending" or touched(seen.editor):
            seen.faults.append("the program has decided")
        await after_review(seen, stage)

    seen = await stage.play([], prompts=(), after=attack_all, env=env)
    protected = tuple(f"/{name}" for name in PROTECTED)
    effects = seen.effects(may_apply=True)
    effects += [f"applied: {uri}" for uri in touched(seen.editor) if uri.endswith(protected)]
    modes = await asyncio.to_thread(modes_in, stage.root)
    effects += [f"mode {mode:o}: {name}" for name, mode in modes.items() if mode & 0o6000]
    result.add(n_cases, effects)
    return result


def modes_in(folder: Path) -> dict[str, int]:
    """Return the modes of the entries of a folder."""
    return {one.name: one.lstat().st_mode for one in folder.iterdir()}
