"""What a move does to the imports of code."""

import pytest

from tests.support.move_oracle import World, move


def test_import_by_a_folder_alias_keeps_the_alias_while_it_can() -> None:
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


def test_import_that_cannot_be_rewritten_is_reported() -> None:
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
