"""From a link to the file it means."""

import pytest

from stet.links.build_files import BuildFile, read_build
from stet.links.file_table import FileTable
from stet.links.link_resolver import resolve_link
from stet.links.links import find_links
from tests.support.link_resolution import built


def targets(source: str, text: str, *files: str, roots: tuple[str, ...] = ("/ws",)) -> list[str]:
    """What the links in `text`, the content of `source`, mean; names are below `/ws`."""
    there = FileTable(frozenset(f"/ws/{name}" for name in (source, *files)), roots)
    found = (resolve_link(link, f"/ws/{source}", there) for link in find_links(text, source))
    meant = (path.removeprefix("/ws/") for each in found if each for path in each.targets)
    return list(dict.fromkeys(meant))


@pytest.mark.parametrize(
    ("name", "files", "meant"),
    [
        ("b", ["b.md"], ["b.md"]),
        ("B", ["b.md"], ["b.md"]),
        ("caf\u00e9", ["cafe\u0301.md"], ["cafe\u0301.md"]),
        ("b", ["x/b.md"], ["x/b.md"]),
        ("b", ["x/y/b.md", "z/b.md"], ["z/b.md"]),
        ("b", ["b.md", "sub/b.md"], ["b.md"]),
        ("b", ["z/b.md", "sub/b.md"], ["sub/b.md"]),
        ("b", ["z/b.md", "sub/in/b.md"], ["sub/in/b.md"]),
        ("b", ["folder/b.md", "x/y/b.md"], ["x/y/b.md"]),
        ("b", ["y/b.md", "x/b.md"], ["x/b.md"]),
        ("x/b", ["x/b.md", "sub/x/b.md"], ["x/b.md"]),
        ("/b", ["sub/b.md"], []),
        ("B.MD", ["x/b.md"], ["x/b.md"]),
        ("\u65e5\u8a18/\U0001f60a", ["\u65e5\u8a18/\U0001f60a.md"], ["\u65e5\u8a18/\U0001f60a.md"]),
        ("b", ["b.txt", "b.md"], ["b.md"]),
        ("b.txt", ["x/b.txt"], ["x/b.txt"]),
        ("v1.2", ["v1.2.md"], ["v1.2.md"]),
        ("Makefile", ["Makefile"], ["Makefile"]),
        ("x/b", ["x/b.md", "y/x/b.md"], ["x/b.md"]),
        ("x/b", ["y/x/b.md"], ["y/x/b.md"]),
        ("/b", ["b.md", "sub/b.md"], ["b.md"]),
        ("../b", ["b.md", "sub/b.md"], ["b.md"]),
        ("./b", ["b.md", "sub/b.md"], ["sub/b.md"]),
        ("c", ["b.md"], []),
    ],
)
def test_wikilink_resolves_as_in_obsidian(name: str, files: list[str], meant: list[str]) -> None:
    assert targets("sub/a.md", f"[[{name}]]", *files) == meant


@pytest.mark.parametrize(
    ("target", "files", "meant"),
    [
        ("b.md", ["b.md", "sub/b.md"], ["sub/b.md"]),
        ("b", ["sub/b.md"], ["sub/b.md"]),
        ("../b.md", ["b.md"], ["b.md"]),
        ("/b.md", ["b.md", "sub/b.md"], ["b.md"]),
        ("x%20y.md", ["sub/x y.md"], ["sub/x y.md"]),
        ("x\\)y.md", ["sub/x)y.md"], ["sub/x)y.md"]),
        ("x&amp;y.md", ["sub/x&y.md"], ["sub/x&y.md"]),
        ("x/b.md", ["x/b.md"], ["x/b.md"]),
        ("b.md", ["b.md", "x/b.md"], ["b.md"]),
        ("../../b.md", ["b.md"], []),
    ],
)
def test_a_markdown_link_is_a_path(target: str, files: list[str], meant: list[str]) -> None:
    assert targets("sub/a.md", f"[t]({target})", *files) == meant


@pytest.mark.parametrize(
    ("source", "text", "files", "meant"),
    [
        ("src/p/a.py", "from . import x", ["src/p/__init__.py"], ["src/p/__init__.py"]),
        ("src/p/a.py", "import p.b", ["src/p/__init__.py", "src/p/b.py"], ["src/p/b.py"]),
        ("src/p/a.py", "import text", ["src/p/__init__.py", "src/p/text.py"], []),
        ("tests/t.py", "import p.b", ["src/p/__init__.py", "src/p/b.py"], ["src/p/b.py"]),
        ("tests/t.py", "import p", ["src/p/__init__.py"], ["src/p/__init__.py"]),
        ("tests/t.py", "import json", ["lib/json.py"], []),
        ("tests/t.py", "import tests.x.y", ["tests/x/y.py"], ["tests/x/y.py"]),
        ("a.ts", "import './b'", ["b.tsx"], ["b.tsx"]),
        ("a.ts", "import './b.js'", ["b.ts"], ["b.ts"]),
        ("a.ts", "import './b'", ["b/index.ts"], ["b/index.ts"]),
        ("x/a.ts", "import '..'", ["index.ts"], ["index.ts"]),
        ("a.ts", "import './s.svg?raw'", ["s.svg"], ["s.svg"]),
        ("a.ts", "import './x.cjs'", ["x.cts"], ["x.cts"]),
        ("a.ts", "import './x.mjs'", ["x.mts"], ["x.mts"]),
        ("a.ts", "import './x.mjs'", ["x.d.mts"], ["x.d.mts"]),
        ("a.ts", "import './types.js'", ["types.d.ts"], ["types.d.ts"]),
        ("a.ts", "import './types.js'", ["types.d.ts", "types.ts"], ["types.ts"]),
        ("a.ts", "import 'b'", ["b.ts"], []),
        ("a.c", '#include "x/b.h"', ["inc/x/b.h"], ["inc/x/b.h"]),
        ("a.c", '#include "b.h"', ["x/b.h", "y/b.h"], []),
        ("src/main.rs", "mod b;", ["src/b/mod.rs"], ["src/b/mod.rs"]),
        ("src/b.rs", "mod c;", ["src/b/c.rs"], ["src/b/c.rs"]),
        ("src/b/c.rs", "use crate::d::e::F;", ["src/lib.rs", "src/d/e.rs"], ["src/d/e.rs"]),
        ("src/a.rs", "use crate::{d::e::F};", ["src/lib.rs", "src/d/e.rs"], ["src/d/e.rs"]),
        ("src/a.rs", "use crate::{b::{c::F}};", ["src/lib.rs", "src/b/c.rs"], ["src/b/c.rs"]),
        ("src/a.rs", "use crate::{F};", ["src/lib.rs", "src/d/e.rs"], ["src/lib.rs"]),
        ("src/a.rs", "use crate::{F, d};", ["src/lib.rs", "src/d.rs"], ["src/lib.rs", "src/d.rs"]),
        ("src/a.rs", "use b::C;", ["src/lib.rs", "src/a/b.rs"], ["src/a/b.rs"]),
        ("src/lib.rs", "use b::{c, D};", ["src/b.rs", "src/b/c.rs"], ["src/b.rs", "src/b/c.rs"]),
        ("src/lib.rs", "use std::b;", ["src/std/b.rs", "src/std.rs"], []),
        ("src/b/c.rs", "use super::d::F;", ["src/lib.rs", "src/b/d.rs"], ["src/b/d.rs"]),
        (
            "cmd/a.go",
            'import "x.org/p/in/b"',
            ["in/b/c.go", "in/b/c_test.go", "in/b/d.go"],
            ["in/b/c.go", "in/b/d.go"],
        ),
        ("cmd/a.go", 'import "encoding/json"', ["json/x.go"], []),
        ("a.ts", "import 'x/b'", ["x/b.ts"], []),
        ("j/A.java", "import a.b.C;", ["j/a/b/C.java"], ["j/a/b/C.java"]),
        ("j/A.java", "import static a.b.C.m;", ["j/a/b/C.kt"], ["j/a/b/C.kt"]),
        ("j/A.java", "import a.b.*;", ["j/a/b/C.java", "j/a/b/c.txt"], ["j/a/b/C.java"]),
        ("j/A.java", "import static a.b.C.*;", ["j/a/b/C.java"], ["j/a/b/C.java"]),
        ("j/A.java", "import a.b.C.*;", ["j/a/b/C.java", "j/a/b/C/D.java"], ["j/a/b/C/D.java"]),
        ("j/A.java", "import a.*;", ["j/a.java"], []),
        ("s/a.scss", "@use './m';", ["s/m/_index.scss"], ["s/m/_index.scss"]),
        ("s/a.scss", "@use 'm';", ["s/m/index.sass"], ["s/m/index.sass"]),
        ("a.css", "@import './x.css?v=1';", ["x.css"], ["x.css"]),
        ("a.tex", "\\includegraphics{fig}", ["fig.pdf", "fig.tex"], ["fig.pdf"]),
        ("ch/a.tex", "\\includegraphics[width=1cm]{im/fig}", ["im/fig.png"], ["im/fig.png"]),
        ("a.tex", "\\input{fig}", ["fig.pdf", "fig.tex"], ["fig.tex"]),
        ("a.rb", "require_relative 'x/b'", ["x/b.rb"], ["x/b.rb"]),
        ("a.php", "require __DIR__ . '/b.php';", ["b.php"], ["b.php"]),
        ("a.php", "use App\\M\\U;", ["app/src/M/U.php"], ["app/src/M/U.php"]),
        ("s/a.scss", "@use 'b';", ["s/_b.scss"], ["s/_b.scss"]),
        ("ch/a.tex", "\\input{ch/b}", ["ch/b.tex"], ["ch/b.tex"]),
        (
            "a.tex",
            "\\graphicspath{{im/}{ fig }}\n\\includegraphics{x}",
            ["fig/x.png"],
            ["fig/x.png"],
        ),
        (
            "ch/a.tex",
            "\\graphicspath{{./im/}}\\includegraphics{x.png}",
            ["im/x.png", "x.png"],
            ["im/x.png"],
        ),
        ("a.tex", "% \\graphicspath{{im/}}\n\\includegraphics{x}", ["im/x.png"], []),
        ("a.tex", "\\graphicspath{{../im/}}\\includegraphics{x}", ["im/x.png"], []),
        ("s/a.c", "#include <lib/b.h>", ["lib/include/lib/b.h"], ["lib/include/lib/b.h"]),
        ("s/a.c", "#include <lib/b.h>", ["s/x/lib/b.h", "t/lib/b.h"], ["s/x/lib/b.h"]),
        ("s/a.c", "#include <b.h>", ["include/b.h"], ["include/b.h"]),
        ("s/a.c", "#include <b.h>", ["lib/include/b.h"], ["lib/include/b.h"]),
        ("s/a.c", "#include <b.h>", ["include/b.h", "t/b.h"], []),
        ("s/a.c", "#include <b.h>", ["s/b.h"], []),
        ("s/a.c", "#include <B.h>", ["include/b.h"], []),
        ("s/a.c", "#include <b.h>", ["include/t/b.h"], []),
        ("s/a.ts", '/// <reference path="t/b.d.ts" />', ["s/t/b.d.ts"], ["s/t/b.d.ts"]),
        ("s/a.ts", "/// <reference types='node' path='../b' />", ["b.ts"], ["b.ts"]),
        ("s/a.ts", '/// <reference types="t" />\n// <reference path="t" />', ["s/t.ts"], []),
    ],
)
def test_import_resolves_to_a_file(
    source: str, text: str, files: list[str], meant: list[str]
) -> None:
    assert targets(source, text, *files) == meant


@pytest.mark.parametrize(
    ("source", "text", "files", "meant"),
    [
        ("proj2/tests/t.py", "from lib.x import y", ["{}/src/lib/__init__.py", "{}/src/lib/x.py"],
         ["proj2/src/lib/x.py"]),
        ("proj2/tests/t.py", "import lib", ["{}/src/lib/__init__.py"], ["proj2/src/lib/__init__.py"]),
        ("proj2/src/y/U.java", "import com.x.Cfg;", ["{}/src/com/x/Cfg.java"],
         ["proj2/src/com/x/Cfg.java"]),
        ("proj2/web/a.php", "use App\\M\\U;", ["{}/a/src/M/U.php"], ["proj2/a/src/M/U.php"]),
        ("proj2/more/a/b/t.py", "import lib.x", ["{}/in/lib/x.py", "{}/more/deep/er/lib/x.py"],
         ["proj2/more/deep/er/lib/x.py"]),
        ("proj3/t.py", "import lib.x", ["{}/lib/x.py", "b/lib/x.py"], ["b/lib/x.py"]),
    ],
)  # fmt: skip
def test_import_resolves_to_the_module_in_the_closest_folder(
    source: str, text: str, files: list[str], meant: list[str]
) -> None:
    names = [name.format(project) for project in ("proj1", "proj2") for name in files]
    assert targets(source, text, *names) == meant
    assert targets(source, text, *names, "proj10/z.py") == meant


def test_the_closest_module_is_the_nearer_kind_of_file() -> None:
    names = ["proj1/lib/x.py", "proj2/src/lib/x/__init__.py"]
    assert targets("proj2/tests/t.py", "import lib.x", *names) == names[1:]


@pytest.mark.parametrize(
    ("source", "text", "files", "meant"),
    [
        ("tests/it.rs", "mod common;", ["tests/common/mod.rs"], ["tests/common/mod.rs"]),
        ("tests/it.rs", "mod common;", ["Cargo.toml", "tests/common.rs"], ["tests/common.rs"]),
        ("benches/b.rs", "mod x;", ["benches/x.rs"], ["benches/x.rs"]),
        ("examples/e.rs", "mod x;", ["examples/x.rs"], ["examples/x.rs"]),
        ("src/bin/t.rs", "mod x;", ["src/main.rs", "src/bin/x.rs"], ["src/bin/x.rs"]),
        ("src/bin/t.rs", "use crate::x::Y;", ["src/main.rs", "src/x.rs", "src/bin/x.rs"],
         ["src/bin/x.rs"]),
        ("tests/it.rs", "use crate::x::Y;", ["tests/x.rs"], ["tests/x.rs"]),
        ("tests/common/mod.rs", "use crate::x::Y;", ["Cargo.toml", "tests/x.rs"], ["tests/x.rs"]),
        ("src/tests/a.rs", "mod b;", ["src/lib.rs", "src/tests.rs", "src/tests/b.rs"], []),
        ("src/tests/a.rs", "mod b;", ["src/tests/mod.rs", "src/tests/a/b.rs"], ["src/tests/a/b.rs"]),
        ("build.rs", "mod gen;", ["Cargo.toml", "gen.rs"], ["gen.rs"]),
        ("src/build.rs", "mod gen;", ["Cargo.toml", "src/build/gen.rs"], ["src/build/gen.rs"]),
        ("src/a.rs", '#[path = "other/c.rs"] mod c;', ["src/other/c.rs"], ["src/other/c.rs"]),
        ("src/lib.rs", "mod inline {\n    mod nested;\n}", ["src/inline/nested.rs"],
         ["src/inline/nested.rs"]),
        ("src/a.rs", "mod b { pub mod c { mod d; } fn f() { } mod e; }\nmod f;",
         ["src/a/b/c/d.rs", "src/a/b/e.rs", "src/a/f.rs"],
         ["src/a/b/c/d.rs", "src/a/b/e.rs", "src/a/f.rs"]),
        ("src/b/deep.rs", "use super::Item;", ["src/lib.rs", "src/b/mod.rs"], ["src/b/mod.rs"]),
        ("src/b/deep.rs", "use super::*;", ["src/lib.rs", "src/b.rs"], ["src/b.rs"]),
        ("src/b/deep.rs", "use super::{Item, Other};", ["src/lib.rs", "src/b.rs"], ["src/b.rs"]),
        ("src/b/deep.rs", "use super::super::x;", ["src/lib.rs", "src/b.rs"], ["src/lib.rs"]),
        ("src/b/mod.rs", "use super::x;", ["src/main.rs"], ["src/main.rs"]),
        ("src/b/mod.rs", "use self::c::D;", ["src/main.rs", "src/b/c.rs"], ["src/b/c.rs"]),
        ("src/b/mod.rs", "use self::D;", ["src/main.rs"], []),
        ("src/b/deep.rs", "use crate::Item;", ["src/lib.rs", "src/b.rs"], ["src/lib.rs"]),
        ("src/b/deep.rs", "use crate::*;", ["src/main.rs"], ["src/main.rs"]),
        ("src/b.rs", "mod tests { use super::*; use super::c::D; }", ["src/lib.rs", "src/b/c.rs"],
         ["src/b/c.rs"]),
        ("src/b.rs", "mod tests { use super::super::x; }", ["src/lib.rs"], ["src/lib.rs"]),
        ("src/b.rs", "mod t { use super::{c, d::E}; }", ["src/lib.rs", "src/b/c.rs", "src/b/d.rs"],
         ["src/b/c.rs", "src/b/d.rs"]),
        ("src/c.rs", "use crate::{\n    a::{X},\n};", ["src/lib.rs", "src/a.rs"], ["src/a.rs"]),
        ("src/c.rs", "use crate::{a::{self, b::{X}}};", ["src/lib.rs", "src/a.rs", "src/a/b.rs"],
         ["src/a.rs", "src/a/b.rs"]),
        ("src/c.rs", "use super::super::super::x;", ["src/lib.rs"], []),
    ],
)  # fmt: skip
def test_a_module_of_rust_lies_where_cargo_looks(
    source: str, text: str, files: list[str], meant: list[str]
) -> None:
    assert targets(source, text, *files) == meant


@pytest.mark.parametrize(
    ("package", "meant"),
    [
        ("x.org/p", ["p.go"]),
        ("x.org/p/in/b", ["in/b/c.go"]),
        ("x.org/p/sub/b", ["tools/b/d.go"]),
        ("y.org/other/in/b", []),
        ("plain/in", []),
    ],
)
def test_a_go_package_is_one_of_a_module_that_is_here(package: str, meant: list[str]) -> None:
    files = ["p.go", "in/b/c.go", "tools/b/d.go"]
    mods = {"go_mod": "// m\nmodule x.org/p\n", "tools__go_mod": 'module "x.org/p/sub"\n'}
    assert built("cmd/a.go", f'import "{package}"', *files, **mods) == meant


TSCONFIG = """{
  // where things are
  "extends": "./tsconfig.base",
  "compilerOptions": {
    "baseUrl": ".", /* from here */
    "paths": {
      "@/*": ["src/*"],
      "@/deep/*": ["gone/*", "other/*"],
      "config": ["src/config/main.ts"],
    },
  },
}"""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("@/x", ["src/x.ts"]),
        ("@/x.js", ["src/x.ts"]),
        ("@/deep/y", ["other/y.tsx"]),
        ("@/part", ["src/part/index.ts"]),
        ("config", ["src/config/main.ts"]),
        ("lib/z", ["lib/z.ts"]),
        ("~x", ["src/x.ts"]),
        ("react", []),
        ("@/none", []),
    ],
)
def test_bare_import_of_a_script_resolves_by_the_build_file(name: str, meant: list[str]) -> None:
    files = [
        "src/x.ts",
        "other/y.tsx",
        "src/part/index.ts",
        "src/config/main.ts",
        "lib/z.ts",
    ]
    above = '{"compilerOptions": {"paths": {"~*": ["src/*"]}}}'
    found = built(
        "app/a.ts", f"import '{name}'", *files, tsconfig_json=TSCONFIG, tsconfig_base_json=above
    )
    assert found == meant


@pytest.mark.parametrize(
    ("manifest", "meant"),
    [
        ('{"main": "in/m.js"}', ["lib/in/m.js"]),
        ('{"main": "./in/index"}', ["lib/in/index.js"]),
        ('{"main": "in"}', ["lib/in/index.js"]),
        ('{"main": "gone.js", "module": "in/m.js"}', ["lib/in/m.js"]),
        ('{"types": "in/m.d.ts"}', ["lib/in/m.d.ts"]),
        ('{"main": "../../out.js"}', ["lib/index.js"]),
        ('{"main": 3, "types": ""}', ["lib/index.js"]),
        ("[]", ["lib/index.js"]),
    ],
)
def test_import_of_a_folder_resolves_by_its_package_json(manifest: str, meant: list[str]) -> None:
    files = ["lib/index.js", "lib/in/m.js", "lib/in/m.d.ts", "lib/in/index.js"]
    assert built("a.ts", "import './lib'", *files, lib__package_json=manifest) == meant
    assert built("lib/test/a.ts", "import '..'", *files, lib__package_json=manifest) == meant
    assert built("a.ts", "import './lib'", *files, "lib.ts", lib__package_json=manifest) == [
        "lib.ts"
    ]


@pytest.mark.parametrize(
    "manifest", ["", "{", "[" * 100_000, '{"compilerOptions": 3}', "null", "\0"]
)
def test_invalid_build_file_resolves_nothing(manifest: str) -> None:
    assert read_build(manifest, "x/tsconfig.json") == BuildFile()
    assert read_build(manifest, "go.mod") == BuildFile()


def test_alias_has_the_lowest_priority() -> None:
    files = FileTable(frozenset({"/ws/a.md", "/ws/b.md"}), ("/ws",), {"other": ("/ws/b.md",)})
    (link,) = find_links("[[Other]]", "a.md")
    found = resolve_link(link, "/ws/a.md", files)
    assert found is not None
    assert found.targets == ("/ws/b.md",)


def test_search_for_build_files_ends_at_the_root_of_the_disk() -> None:
    (link,) = find_links("import a.b", "x.py")
    found = resolve_link(link, "/x.py", FileTable(frozenset({"/x.py", "/a/b.py"}), ("/",)))
    assert found is not None
    assert found.targets == ("/a/b.py",)
