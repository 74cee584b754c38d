"""What a move does to the links of the workspace."""

from collections.abc import Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.index.builds import is_build, read_build
from stet.index.files import Files
from stet.index.links import find_links
from stet.index.moving import rewrite_links
from stet.index.properties import properties_of
from stet.index.resolve import resolve
from stet.text.edit import TextEdit

World = dict[str, str]


def move(
    world: Mapping[str, str], old: str, new: str, others: Collection[str] = ()
) -> tuple[World, list[tuple[str, str]]]:
    """The texts after a move, and the links that were left; `others` lie on the disk too.

    Names are below `/ws`.
    """
    builds = {
        f"/ws/{name}": read_build(text, name) for name, text in world.items() if is_build(name)
    }
    files = Files(frozenset(f"/ws/{name}" for name in world), ("/ws",), builds=builds)
    links = {f"/ws/{name}": find_links(text, name) for name, text in world.items()}
    there = {f"/ws/{name}" for name in others}
    found = rewrite_links(links, files, f"/ws/{old}", f"/ws/{new}", there.__contains__)
    after = {
        new if name == old else name: TextEdit(found.edits.get(f"/ws/{name}", ())).apply(text)
        for name, text in world.items()
    }
    return after, [(path.removeprefix("/ws/"), link.written) for path, link in found.left]


def test_links_to_a_note_follow_it_and_so_do_its_own() -> None:
    world = {
        "a.md": "[[b]] [[sub/c|x]] [t](sub/c.md#h 'q') [s](<sub/d e.md>) ![](img/x.png) [y](no.md)",
        "b.md": "[a](a.md#part) [[a#h|alias]] ![[a]] `[[a]]` [root](/a.md)\n\n[ref]: ./a.md",
        "sub/c.md": "[a](../a.md)",
        "sub/d e.md": "",
    }
    after, left = move(world, "a.md", "sub/n (1).md", ["img/x.png"])
    assert left == []
    assert after == {
        "sub/n (1).md": "[[b]] [[sub/c|x]] [t](c.md#h 'q') [s](<d e.md>) ![](../img/x.png) [y](no.md)",
        "b.md": "[a](sub/n%20%281%29.md#part) [[n (1)#h|alias]] ![[n (1)]] `[[a]]` "
        "[root](/sub/n%20%281%29.md)\n\n[ref]: ./sub/n%20%281%29.md",
        "sub/c.md": "[a](n%20%281%29.md)",
        "sub/d e.md": "",
    }


def test_a_wikilink_stays_as_short_as_it_can() -> None:
    world = {"x/a.md": "", "y/c.md": "", "b.md": "[[a]] [[x/a]] [[c]]"}
    assert move(world, "x/a.md", "y/a.md")[0]["b.md"] == "[[a]] [[y/a]] [[c]]"
    assert move(world, "x/a.md", "z/c.md")[0]["b.md"] == "[[z/c]] [[z/c]] [[c]]"


def test_a_link_in_quoted_yaml_keeps_the_yaml_whole() -> None:
    front = """---
up: '[[n]]'
all: ["[[n|the 'n']]", '[[n#x]]', [[n]]]
text: it's [[n]] # '[[n]]'
---
'[[n]]'
"""
    after, left = move({"n.md": "", "d.md": front}, "n.md", 'John\'s "n".md')
    assert left == []
    assert (
        after["d.md"]
        == """---
up: '[[John''s "n"]]'
all: ["[[John's \\"n\\"|the 'n']]", '[[John''s "n"#x]]', [[John's "n"]]]
text: it's [[John's "n"]] # '[[John's "n"]]'
---
'[[John's "n"]]'
"""
    )
    assert "up" in properties_of(after["d.md"])
    assert move(after, 'John\'s "n".md', "n.md")[0]["d.md"] == front


def test_a_link_that_the_new_name_would_capture_is_written_out() -> None:
    world = {"deep/er/c.md": "", "b.md": "[[c]] [[new]]", "a.md": "[[c]]"}
    after, left = move(world, "a.md", "c.md")
    assert after["b.md"] == "[[deep/er/c]] [[new]]"
    assert after["c.md"] == "[[deep/er/c]]"
    assert left == []


def test_paths_follow_a_file_whose_name_changes_in_case_only() -> None:
    world = {
        "docs/a.md": "[self](a.md) [[a]]",
        "b.md": "[x](docs/a.md#h) [y](docs/A.md) [z](Docs/a) [[docs/a]] [[a]] ![](</docs/a.md>)",
        "s/m.ts": "import './n'\n",
        "s/n.ts": "",
    }
    after, left = move(world, "docs/a.md", "docs/A.md")
    assert left == []
    assert after["b.md"] == (
        "[x](docs/A.md#h) [y](docs/A.md) [z](docs/A) [[docs/a]] [[a]] ![](</docs/A.md>)"
    )
    assert after["docs/A.md"] == "[self](A.md) [[a]]"
    after, left = move(world, "docs/a.md", "Docs/a.md")
    assert after["b.md"].startswith("[x](Docs/a.md#h) [y](Docs/a.md) [z](Docs/a) ")
    assert after["Docs/a.md"].startswith("[self](a.md) ")
    assert move(world, "s/n.ts", "s/N.ts")[0]["s/m.ts"] == "import './N'\n"
    assert move(world, "s/m.ts", "S/m.ts")[0]["S/m.ts"] == "import '../s/n'\n"
    both = move(move(world, "s/m.ts", "S/m.ts")[0], "s/n.ts", "S/n.ts")[0]
    assert both["S/m.ts"] == "import './n'\n"
    decomposed = move({"é.md": "", "b.md": "[x](é.md)"}, "é.md", "e\u0301.md")[0]
    assert decomposed["b.md"] == "[x](e\u0301.md)"


def test_a_link_out_of_the_workspace_stays_right() -> None:
    after, _ = move({"a.md": "[o](../other/x.md) [gone](nothing.md)"}, "a.md", "s/a.md")
    assert after["s/a.md"] == "[o](../../other/x.md) [gone](nothing.md)"


def test_a_script_behind_the_alias_of_a_folder_keeps_it_while_it_can() -> None:
    config = '{"compilerOptions": {"baseUrl": "src", "paths": {"@/*": ["./*"], "one": ["x.ts"]}}}'
    world = {
        "web/tsconfig.json": config,
        "web/src/a.ts": "import '@/x'\nimport 'x.js'\nimport '@/part'\nimport 'one'\n",
        "web/src/x.ts": "import '@/part/index'\n",
        "web/src/part/index.ts": "",
    }
    after, left = move(world, "web/src/x.ts", "web/src/in/y.ts")
    assert left == []
    assert after["web/src/a.ts"] == (
        "import '@/in/y'\nimport 'in/y.js'\nimport '@/part'\nimport './in/y'\n"
    )
    assert after["web/src/in/y.ts"] == world["web/src/x.ts"]
    after, left = move(world, "web/src/part/index.ts", "web/lib/index.ts")
    assert left == []
    assert after["web/src/a.ts"].splitlines()[2] == "import '../lib'"


PACKAGE = {
    "src/p/__init__.py": "",
    "src/p/m.py": "from .n import f\nfrom . import n\nfrom p.q import k\n",
    "src/p/n.py": "import p.m\n",
    "src/p/q/__init__.py": "",
    "src/p/q/k.py": "from p import m, n\nfrom p.m import x\nfrom ..m import y\nimport p.m as pm\n",
    "tests/t.py": "from p.m import x  # of p.m\nfrom p import m\n",
}


def test_a_python_module_gets_another_name() -> None:
    after, left = move(PACKAGE, "src/p/m.py", "src/p/mm.py")
    assert left == []
    assert after["src/p/n.py"] == "import p.mm\n"
    assert after["src/p/q/k.py"] == (
        "from p import mm as m, n\nfrom p.mm import x\nfrom ..mm import y\nimport p.mm as pm\n"
    )
    assert after["tests/t.py"] == "from p.mm import x  # of p.m\nfrom p import mm as m\n"
    assert after["src/p/mm.py"] == PACKAGE["src/p/m.py"]


def test_a_python_module_goes_to_another_package() -> None:
    after, left = move(PACKAGE, "src/p/m.py", "src/p/q/m.py")
    assert after["src/p/q/m.py"] == "from ..n import f\nfrom .. import n\nfrom p.q import k\n"
    assert after["src/p/n.py"] == "import p.q.m\n"
    assert after["tests/t.py"] == "from p.q.m import x  # of p.m\nfrom p.q import m\n"
    # `m` and `n` come from one statement and would need two.
    assert left == [("src/p/q/k.py", "p")]
    assert after["src/p/q/k.py"] == (
        "from p import m, n\nfrom p.q.m import x\nfrom .m import y\nimport p.q.m as pm\n"
    )


@pytest.mark.parametrize(
    ("world", "old", "new", "changed"),
    [
        (
            {"s/a.ts": "import x from './b'; import './dir'", "s/b.tsx": "import './a'",
             "s/dir/index.ts": "import '../a.ts'", "top.ts": "import './s/a.js'"},
            "s/a.ts",
            "s/dir/a.ts",
            {"s/dir/a.ts": "import x from '../b'; import './'", "s/b.tsx": "import './dir/a'",
             "s/dir/index.ts": "import './a.ts'", "top.ts": "import './s/dir/a.js'"},
        ),
        (
            {"src/main.rs": "mod a;\nuse crate::a::c::T;\n", "src/a/mod.rs": "pub mod c;\n",
             "src/a/c.rs": ""},
            "src/a/c.rs",
            "src/a/d.rs",
            {"src/main.rs": "mod a;\nuse crate::a::d::T;\n", "src/a/mod.rs": "pub mod d;\n"},
        ),
        (
            {"i/x/h.h": "", "s/a.c": '#include "x/h.h"\n#include "../i/x/h.h"\n'},
            "i/x/h.h",
            "i/y/g.h",
            {"s/a.c": '#include "y/g.h"\n#include "../i/y/g.h"\n'},
        ),
        (
            {"j/a/b/C.java": "", "j/a/D.java": "import a.b.C;\nimport static a.b.C.m;\n"},
            "j/a/b/C.java",
            "j/a/E.java",
            {"j/a/D.java": "import a.E;\nimport static a.E.m;\n"},
        ),
        (
            {"p/__init__.py": "", "p/a.py": "",
             "m.py": "from p import \\\n    a\nimport os, \\\n    p.a\nif 1: from p.a import b\n"},
            "p/a.py",
            "p/z.py",
            {"m.py": "from p import \\\n    z as a\nimport os, \\\n    p.z\nif 1: from p.z import b\n"},
        ),
        (
            {"j/a/b/C.java": "", "j/a/D.java": "import static a.b.C.*;\n"},
            "j/a/b/C.java",
            "j/a/E.java",
            {"j/a/D.java": "import static a.E.*;\n"},
        ),
        (
            {"st/m/_index.scss": "", "st/a.scss": "@use './m';"},
            "st/m/_index.scss",
            "st/n/_index.scss",
            {"st/a.scss": "@use './n';"},
        ),
        (
            {"t/fig.svg": "", "t/a.tex": "\\includegraphics{fig}"},
            "t/fig.svg",
            "t/in/plot.svg",
            {"t/a.tex": "\\includegraphics{in/plot}"},
        ),
        (
            {"st/_v.scss": "", "st/m.scss": "@use 'v';"},
            "st/_v.scss",
            "st/l/_w.scss",
            {"st/m.scss": "@use 'l/w';"},
        ),
        (
            {"t/main.tex": "\\input{ch/one}", "t/ch/one.tex": "\\input{ch/two}", "t/ch/two.tex": ""},
            "t/ch/two.tex",
            "t/two.tex",
            {"t/ch/one.tex": "\\input{two}"},
        ),
        (
            {"lib/a.rb": "require_relative 'x/b'\n", "lib/x/b.rb": ""},
            "lib/a.rb",
            "a.rb",
            {"a.rb": "require_relative 'lib/x/b'\n"},
        ),
    ],
)  # fmt: skip
def test_imports_follow_a_file(world: World, old: str, new: str, changed: World) -> None:
    after, left = move(world, old, new)
    assert left == []
    moved = {new if name == old else name: text for name, text in world.items()}
    assert after == {**moved, **changed}


def test_what_can_not_be_written_anew_is_named() -> None:
    world = {
        "src/main.rs": "mod b;\n",
        "src/b.rs": "",
        "j/D.java": "import a.b.*;",
        "j/a/b/C.java": "",
    }
    assert move(world, "src/b.rs", "src/a/b.rs") == (
        {"src/a/b.rs" if name == "src/b.rs" else name: text for name, text in world.items()},
        [("src/main.rs", "b")],
    )
    assert move(world, "j/a/b/C.java", "j/C.java")[1] == [("j/D.java", "a.b.*")]


def test_a_module_of_another_project_with_the_same_name_is_not_followed() -> None:
    world = {
        f"{project}/src/lib/{name}.py": "" for project in ("p1", "p2") for name in ("__init__", "x")
    }
    world["p2/tests/t.py"] = "from lib.x import y\nimport lib.x\n"
    after, left = move(world, "p1/src/lib/x.py", "p1/src/lib/xx.py")
    assert (after["p2/tests/t.py"], left) == (world["p2/tests/t.py"], [])
    after, left = move(world, "p2/src/lib/x.py", "p2/src/lib/xx.py")
    assert (after["p2/tests/t.py"], left) == ("from lib.xx import y\nimport lib.xx\n", [])


RUST = {
    "src/lib.rs": "mod a;\nmod util;\n",
    "src/a/mod.rs": "mod b;\npub struct Foo;\n",
    "src/a/b.rs": "use super::Foo;\nuse super::{Bar};\nuse super::super::util::x;\nuse crate::y;\n",
    "src/util.rs": "use crate::{\n    a::{Foo as F},\n};\nuse crate::a::*;\n",
}


def test_what_a_module_of_rust_takes_from_those_above_follows() -> None:
    after, left = move(RUST, "src/a/b.rs", "src/b.rs")
    assert left == [("src/a/mod.rs", "b")]
    assert after["src/b.rs"] == (
        "use crate::a::Foo;\nuse crate::a::{Bar};\nuse crate::util::x;\nuse crate::y;\n"
    )
    after, left = move(RUST, "src/a/mod.rs", "src/c.rs")
    assert left == [("src/a/mod.rs", "b")]
    assert after["src/lib.rs"] == "mod c;\nmod util;\n"
    assert after["src/a/b.rs"].startswith(
        "use crate::c::Foo;\nuse crate::c::{Bar};\nuse super::super"
    )
    assert after["src/util.rs"] == "use crate::{\n    c::{Foo as F},\n};\nuse crate::c::*;\n"


def test_a_module_of_rust_in_another_or_by_its_path_follows() -> None:
    world = {
        "src/lib.rs": 'mod in_ {\n    mod x;\n}\n#[path = "y/z.rs"] mod z;\n',
        "src/in_/x.rs": "",
        "src/y/z.rs": "",
        "tests/it.rs": "mod common;\n",
        "tests/common/mod.rs": "",
    }
    assert move(world, "src/in_/x.rs", "src/in_/w.rs")[0]["src/lib.rs"].startswith(
        "mod in_ {\n    mod w;"
    )
    after, left = move(world, "src/y/z.rs", "src/other.rs")
    assert (after["src/lib.rs"].splitlines()[-1], left) == ('#[path = "other.rs"] mod z;', [])
    after, left = move(world, "tests/common/mod.rs", "tests/shared.rs")
    assert (after["tests/it.rs"], left) == ("mod shared;\n", [])


def test_scripts_by_another_name_or_with_a_query_follow() -> None:
    world = {
        "a.ts": "import './s.svg?raw'\nimport './types.js'\nimport './lib'\n",
        "s.svg": "",
        "types.d.ts": "",
        "lib/package.json": '{"main": "m.js"}',
        "lib/m.js": "",
    }
    assert move(world, "s.svg", "in/t.svg")[0]["a.ts"].startswith("import './in/t.svg?raw'\n")
    assert "import './in/kinds.js'" in move(world, "types.d.ts", "in/kinds.d.ts")[0]["a.ts"]
    assert move(world, "lib/m.js", "lib/n.js")[0]["a.ts"].endswith("import './lib/n.js'\n")
    after, left = move(world, "a.ts", "in/a.ts")
    assert left == []
    assert after["in/a.ts"] == "import '../s.svg?raw'\nimport '../types.js'\nimport '../lib'\n"


# Properties. Links are written as Stet itself writes them: another spelling of a path is not kept.
FOLDERS = st.sampled_from(["", "x/", "x/y/", "z/"])
WORLD_NAMES = ["a.md", "b.md", "c d.md", "\u00e9.md", "(f).md"]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Notes of different names in folders, with links of every style between each other."""
    names = [draw(FOLDERS) + name for name in WORLD_NAMES]
    world: World = {}
    for source in names:
        pieces = []
        for _ in range(draw(st.integers(0, 4))):
            target = draw(st.sampled_from(names))
            pieces.append(
                draw(st.sampled_from(["text \u2028 ", "`[[a]]` ", "\r\n", "\n\n", "[x] "]))
            )
            pieces.append(draw(st.sampled_from([_wiki, _named, _relative, _angle]))(source, target))
        world[source] = "".join(pieces)
    return world


def _wiki(source: str, target: str) -> str:
    return f"[[{target.rpartition('/')[2].removesuffix('.md')}#h|alias]]"


def _named(source: str, target: str) -> str:
    return f"![[{target.removesuffix('.md')}]]" if "/" in target else _wiki(source, target)


def _relative(source: str, target: str) -> str:
    path = _path(source, target).replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return f"[t]({path}#frag 'title')"


def _angle(source: str, target: str) -> str:
    return f"![t](<{_path(source, target)}>)"


def _path(source: str, target: str) -> str:
    ups = source.count("/")
    shared = 0
    one, other = source.split("/")[:-1], target.split("/")[:-1]
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return "../" * (ups - shared) + "/".join(target.split("/")[shared:])


@given(worlds(), st.data())
def test_a_move_there_and_back_gives_the_same_bytes(world: World, data: st.DataObject) -> None:
    old = data.draw(st.sampled_from(sorted(world)))
    # Not to the top: `[[x/a]]` is `[[a]]` there, and a bare name it stays.
    folder = data.draw(FOLDERS.filter(bool))
    new = folder + data.draw(st.sampled_from([old.rpartition("/")[2], "new n.md"]))
    if new in world:
        return
    there, left = move(world, old, new)
    assert left == []
    assert move(there, new, old) == (world, [])


@given(worlds(), st.data())
def test_a_move_changes_links_only_and_every_link_means_the_same_file(
    world: World, data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(sorted(world)))
    new = data.draw(FOLDERS) + data.draw(st.sampled_from(["b.md", "new n.md"]))
    if new in world:
        return
    after, left = move(world, old, new)
    assert left == []
    for name, text in world.items():
        now = new if name == old else name
        assert _without_links(after[now], now) == _without_links(text, name)
        assert _meanings(after, now) == [
            [new if target == old else target for target in targets]
            for targets in _meanings(world, name)
        ]


def _without_links(text: str, name: str) -> list[str]:
    pieces, done = [], 0
    for link in find_links(text, name):
        pieces.append(text[done : link.start])
        done = link.end
    return [*pieces, text[done:]]


def _meanings(world: World, name: str) -> list[list[str]]:
    files = Files(frozenset(f"/ws/{each}" for each in world), ("/ws",))
    found = (resolve(link, f"/ws/{name}", files) for link in find_links(world[name], name))
    return [[path.removeprefix("/ws/") for path in each.targets] if each else [] for each in found]
