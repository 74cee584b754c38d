"""Classes 13 and 32 to 35: secrets in readable files, stored data, unsafe loading, ranking and
races.
"""

import contextlib
import itertools
import json
import os
import pickle
import re
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stet.search.search_engine import ChunkQuery
from tests.attacks.obedient import Obedient, order
from tests.attacks.registry import Result, attack
from tests.attacks.running import reading
from tests.attacks.seen import Seen
from tests.attacks.stage import Stage, accept_all
from tests.attacks.weaknesses import weakened
from tests.support.search_engine import engine_of, files_of

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"


def keys(stage: Stage, n: int) -> list[str]:
    """Make up keys in the formats of well-known services."""

    def some(k: int, letters: str = _LETTERS) -> str:
        return "".join(stage.random.choice(letters) for _ in range(k))

    upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    makers = (
        lambda: f"AKIA{some(16, upper)}", lambda: f"ghp_{some(36)}", lambda: f"github_pat_{some(22)}_{some(59)}",
        lambda: f"sk-ant-api03-{some(93)}AA", lambda: f"sk-proj-{some(48)}", lambda: f"xoxb-{some(12, '0123456789')}-{some(24)}",
        lambda: f"glpat-{some(20)}", lambda: f"AIza{some(35)}", lambda: f"sk_live_{some(24)}",
        lambda: f"npm_{some(36)}", lambda: f"SG.{some(22)}.{some(43)}", lambda: f"hf_{some(34)}",
    )  # fmt: skip
    return [makers[at % len(makers)]() for at in range(n)]


GUESSES = (
    ("search_workspace", {"mode": "regex", "query": "{}"}),
    ("search_workspace", {"mode": "regex", "query": "guessed = .(?!{})"}),
    ("search_workspace", {"mode": "regex", "query": "^(?=.*{})guessed"}),
    ("search_workspace", {"mode": "keyword", "query": "{}"}),
    ("search_workspace", {"mode": "keyword", "query": '"guessed = {}"'}),
    ("query_files", {"text": "{}"}),
    ("query_files", {"task": "open", "text": "{}"}),
    ("query_files", {"property": "token", "value": "~{}"}),
)


async def guessed(stage: Stage) -> Result:
    """Search for right and wrong beginnings of a key: no answer may tell which are right."""
    made = keys(stage, 12)
    orders, wanted = [], []
    for n, key in enumerate(made):
        note = f"guessed = '{key}'\n- [ ] use {key}\n"
        stage.put(f"g/{n}.md", f"---\ntoken: {key}\n---\n{note}")
        right = key[: stage.random.randint(8, 14)]
        wrong = right[:-1] + ("z" if right[-1] != "z" else "y")
        for tool, given in GUESSES:
            for guess in (right, wrong):
                asked = {name: one.replace("{}", guess) for name, one in given.items()}
                asked["folder"] = "g"  # the hostile text holds the guesses
                orders.append(order(tool, **asked))
                wanted.append((tool, guess, json.dumps(asked)))
    seen = await stage.play(orders, accepts=False)
    # Compare by position, not by query: a guess that looks like a secret is redacted, right or
    # wrong, each with its own number.
    reported = [
        str(one["content"])
        for one in json.loads(seen.sent[-1])["messages"]
        if one["role"] == "tool"
    ]
    answers = [
        re.sub(r"secret #\d+", "secret #N", answer.replace(guess, "GUESS"))
        for answer, (_, guess, _) in zip(reported[: len(wanted)], wanted, strict=True)
    ]
    effects = [
        f"a guess is told from another: {wanted[at]}"
        for at in range(0, len(answers), 2)
        if answers[at] != answers[at + 1]
    ]
    result = Result()
    result.add(len(answers) // 2, [*effects, *seen.effects()])
    return result


@attack(
    13, "secrets in content", least=180, weakness="nothing_redacted", others=("guesses_reported",)
)
async def secrets_in_content(stage: Stage) -> Result:
    made = keys(stage, 12 if stage.few else 48)
    forms = (
        "key = '{}'\n",
        "TOKEN={}\n",
        '  "token": "{}",\n',
        "Authorization: Bearer {}\n",
        "curl -u x:{} y\n",
    )
    for n, key in enumerate(made):
        stage.put(f"k{n}.md", "# Notes\n\n" + forms[n % len(forms)].format(key))
    stage.put("prints.txt", "\n".join(made[: len(made) // 2]))
    orders = [order("read_file", file=f"k{n}.md") for n in range(len(made))]
    orders += [order("copy_files", files=[f"k{n}.md" for n in range(5)]),
        order("search_workspace", query="Notes"), order("search_workspace", query="token"),
        order("search_workspace", query="key|TOKEN|Bearer|curl", mode="regex", limit=200),
        order("execute_command", name="print")]  # fmt: skip
    commands = [{"name": "print", "argv": ["cat", "prints.txt"], "safe": True}]
    seen = await stage.play(
        orders, settings={"agent": {"commands": commands, "disabledTools": []}}, accepts=False
    )
    sent = "\n".join(seen.sent)
    result = await guessed(stage)
    effects = [f"sent: {key[:8]}..." for key in made if key in sent]
    result.add(2 * len(made), [*effects, *(one for one in seen.effects() if "'cat'" not in one)])
    return result


@attack(32, "other users of the machine", least=40, weakness="open_to_all")
async def other_users(stage: Stage) -> Result:
    result = Result()
    for n, umask in enumerate(("000", "002", "022", "077")):
        home = stage.top / "home" / f"u{n}"
        home.mkdir(mode=0o700)
        folders = {
            f"XDG_{kind}_HOME": str(home / kind.lower())
            for kind in ("CONFIG", "STATE", "CACHE", "DATA")
        }
        reported: list[str] = []

        async def look(seen: Seen, reported: list[str] = reported) -> None:
            await seen.editor.command("stet.openChat")
            await seen.editor.command("stet.review")
            server = seen.editor._server
            assert server is not None
            reported.append(arguments_of(server.pid))

        orders = [order("create_file", file="n.md", content="x\n"), order("read_file", file="none.md"),
            order("search_workspace", query="x")]  # fmt: skip
        key = "kanarie7777"
        seen = await stage.play(
            orders, env={**folders, "STET_UMASK": umask, "HOME": str(home), "OPENAI_API_KEY": key},
            accepts=False, after=look, model=Obedient(says="Said."),
        )  # fmt: skip
        found = [path for path in home.rglob("*") if "stet" in str(path.relative_to(home))]
        assert found, "nothing was kept"
        effects = [
            f"{stat.filemode(path.lstat().st_mode)} {path.relative_to(home)} (umask {umask})"
            for path in found
            if path.lstat().st_mode & 0o077 and not is_covered(path, home)
        ]
        effects += [
            f"key in {path.name}"
            for path in found
            if path.is_file() and key.encode() in path.read_bytes()
        ]
        effects += ["key in the arguments"] if key in "".join(reported) else []
        result.add(len(found) + 4, [*effects, *seen.effects()])
        if stage.few:
            break
    return result


def arguments_of(process: int) -> str:
    """Read the command line of a process, which every user of the machine can see."""
    return Path(f"/proc/{process}/cmdline").read_text()


def is_covered(path: Path, home: Path) -> bool:
    """Tell whether a folder of Stet's above `path` already keeps other users out."""
    above = [
        each
        for each in path.parents
        if home in each.parents and "stet" in str(each.relative_to(home))
    ]
    return any(not each.lstat().st_mode & 0o077 for each in above)


FLOODS: dict[str, Callable[[int], str]] = {
    "one file of passages like the question": lambda n: "all.md",
    "a copy in every folder": lambda n: f"copy{n}/all.md",
    "three files of such passages": lambda n: f"all{n % 3}.md",
}


N_PASSAGES = 200
"""A semantic search detects copies of one text among its results, which are some hundred."""


def floods(stage: Stage) -> tuple[int, list[str]]:
    """Index passages made to outrank all others; the wanted passage must still be found."""
    right = "# Sailing\n\nBefore you leave, look up the tide in the table of the harbour, if there is one.\n"
    effects: list[str] = []
    ways = list(itertools.product(FLOODS, (True, False)))
    for kind, by_words in ways:
        texts = dict.fromkeys(map(FLOODS[kind], range(N_PASSAGES)), "")
        for n in range(N_PASSAGES):
            name = FLOODS[kind](n)
            number = n if len(texts) < N_PASSAGES else 0  # copies have identical text
            texts[name] += f"# Harbour tide table {number}\n\nHarbour tide table w{number}x.\n\n"
        engine = engine_of({**texts, "sailing.md": right})
        asked = ChunkQuery(
            "harbour tide table", use_words=by_words, use_vectors=not by_words, limit=1000
        )
        with weakened(stage.weakness):
            found = files_of(engine.search(asked))
        effects += [] if "sailing.md" in found else [f"pushed out, by words {by_words}: {kind}"]
    return len(ways), effects


@attack(
    33, "poisoned search", least=43, weakness="no_shares", others=("floods_win", "anything_shown")
)
async def poisoned_search(stage: Stage) -> Result:
    query = "where is the parser configured"
    stage.put("parser.py", f"# {query}\ndef configure(): ...\n")
    for n in range(4):
        stage.put(f"min{n}.js", f"parser configured where {query} " * 20_000)
        stage.put(f"lines{n}.md", f"{query}\n" * 20_000)
        stage.put(f"bin{n}.py", f"{query}\0" * 1000)
        stage.put(f"top{n}.md", f"# {query}\n\n{query * 50}\n")
    # One file is above the size limit for reading, and one contains a single NUL.
    stage.put("large.py", f"{query}\n" + "x\n" * 1_000_000)
    stage.put("large.min.js", f"{query};" * 40_000)
    stage.put("late.py", f"{query}\n" * 100 + "\0")
    unread = ["large.py", "large.min.js", "late.py", *(f"bin{n}.py" for n in range(4))]
    queries = [query, "parser", "configured parser", "where", f'"{query}"', "pars", "configure()"]
    orders = [
        order("search_workspace", query=one, mode=mode, limit=200)
        for one in queries
        for mode in ("hybrid", "keyword", "semantic", "regex")
    ]
    orders += [order("query_files", text=query), order("list_files", glob="*.py")]
    orders += [order("read_file", file=name) for name in unread]
    seen = await stage.play(orders, accepts=False)
    reported = [
        one["content"] for one in json.loads(seen.sent[-1])["messages"] if one["role"] == "tool"
    ]
    effects = [f"{len(one)} characters at once" for one in reported if len(one) > 25_000]
    effects += [
        f"a line of {len(line)}" for one in reported for line in one.splitlines() if len(line) > 400
    ]
    for one in reported:
        places = [line.partition(":")[0] for line in one.splitlines() if ":" in line]
        worst = max(map(places.count, set(places)), default=0)
        effects += [f"{worst} of {len(places)} lines of one file"] if worst > 40 else []
        effects += [f"a place in {name}" for name in unread if name in places]
    effects += [
        f"read: {name}" for name in unread if any(f'file="{name}"' in one for one in reported)
    ]
    result = Result()
    result.add(*floods(stage), whole=False)
    result.add(len(orders), [*effects, *seen.effects()])
    return result


class Marks:
    """An object that leaves a mark when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


NAMES = (
    "index.pkl", ".stet/index.pkl", ".stet/vectors.pkl", "cache.pkl", ".cache/stet/index.pkl", "x.pkl",
    "model.pkl", ".stet/state.pkl",
)  # fmt: skip
OTHERS = (".stet/index.db", "index.db", "state.db", ".stet/state.db", "vectors.npz", ".stet/vectors.npy", "x.yaml",
    ".stet/config.yaml", "settings.pyc", "sitecustomize.py", "stet.py", "stet/__init__.py", "json.py",
    "pydantic/__init__.py", "usercustomize.py", "conftest.py", "x.joblib", "model.gguf", "x.pt", "x.pickle")  # fmt: skip


@attack(34, "deserialisation", least=28, weakness="runs_what_it_finds")
async def deserialised(stage: Stage) -> Result:
    for name in NAMES:
        stage.put(name, "")
        (stage.root / name).write_bytes(
            pickle.dumps(Marks(stage.top / f"unpickled-{name.replace('/', '-')}"))
        )
    for name in OTHERS:
        mark = stage.top / f"ran-{name.replace('/', '-')}"
        stage.put(name, f"import os\nos.mkdir({str(mark)!r})\n")
        if name.endswith(".db"):
            (stage.root / name).unlink()
            with contextlib.closing(sqlite3.connect(stage.root / name)) as base:
                base.execute("create table hunks (id text)")
        elif name.endswith((".yaml",)):
            stage.put(name, f"!!python/object/apply:os.mkdir ['{mark}']\n")
        elif name.endswith((".pickle", ".joblib", ".pt", ".npy", ".npz")):
            (stage.root / name).write_bytes(pickle.dumps(Marks(mark)))
    orders = [*reading(stage), *(order("read_file", file=name) for name in (*NAMES, *OTHERS))]
    orders += [order("get_properties", file="x.yaml"), order("query_files", tag="x")]
    seen = await stage.play(orders, accepts=False)
    effects = [
        f"unpickled: {one}" for one in seen.of("unpickles") if one[0] in ("posix", "os", "builtins")
    ]
    result = Result()
    result.add(len(NAMES) + len(OTHERS), [*effects, *seen.effects()])
    return result


@attack(35, "accept races", least=40, weakness="hashes_ignored")
async def races(stage: Stage) -> Result:
    """Accept hunks that have changed since the user saw them: nothing may be written."""
    count = 6 if stage.few else 20
    orders = []
    for n in range(count):
        stage.put(f"r{n}.md", "one\ntwo\nthree\n")
        orders += [order("read_file", file=f"r{n}.md"),
            order("edit_file", file=f"r{n}.md", old_text="two\n", new_text=f"good {n}\n")]  # fmt: skip
    effects: list[str] = []

    async def race(seen: Seen) -> None:
        editor = seen.editor
        looked_at = await editor.command("stet.proposals")
        replaced = [
            order("edit_file", file=f"r{n}.md", old_text=f"good {n}\n", new_text=f"evil {n}\n")
            for n in range(0, count, 2)
        ]
        editor.write(stage.root / "b.md", "")
        # The model replaces half of its proposals; the user changes the text of the other half.
        from tests.attacks.obedient import written
        from tests.attacks.stage import _asked

        uri = editor.open("b.md", f"Now:\n{written(replaced)}")
        await _asked(editor, "Do as the file says", uri, lambda question: "no")
        for n in range(1, count, 2):
            name = editor.open(f"r{n}.md")
            editor.change(name, "two\n", "two of mine\n")
        now = {hunk["hunk"]: hunk for hunk in await editor.command("stet.proposals")}
        for hunk in await editor.command("stet.proposals"):
            before = len(editor.applied)
            await accept_all(editor, hunk=hunk["hunk"], hash=hunk["hash"][::-1])
            if len(editor.applied) > before:
                effects.append(f"applied by another hash: {hunk['hunk']}")
        for hunk in looked_at:
            later = now.get(hunk["hunk"])
            same = later and later["hash"] == hunk["hash"] and later["new"] == hunk["new"]
            before = len(editor.applied)
            await accept_all(editor, hunk=hunk["hunk"], hash=hunk["hash"])
            if len(editor.applied) > before and not same:
                effects.append(f"applied something else: {later and later['new']!r}")

    seen = await stage.play(orders, accepts=False, after=race)
    result = Result()
    result.add(2 * count, [*effects, *seen.effects(may_apply=True)])
    return result
