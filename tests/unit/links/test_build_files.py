"""What is called by a name that only a build file gives it: packages, modules, crates."""

import time

import pytest

from stet.links.build_files import BuildFile, read_build
from tests.support.link_resolution import built
from tests.support.move_oracle import move

PACKAGE = """{
  "name": "@org/kit",
  "main": "dist/index.js",
  "exports": {
    ".": {"types": "./dist/index.d.ts", "default": ["./gone.js", "./dist/index.js"]},
    "./button": "./src/ui/button.tsx",
    "./parts/*": {"import": "./src/ui/*.tsx"},
    "./deep/*": "./dist/*",
    "./secret": null
  }
}"""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("@org/kit", ["kit/src/index.ts"]),
        ("@org/kit/button", ["kit/src/ui/button.tsx"]),
        ("@org/kit/parts/menu", ["kit/src/ui/menu.tsx"]),
        ("@org/kit/deep/ui/menu", ["kit/src/ui/menu.tsx"]),
        ("@org/kit/style.css", ["kit/style.css"]),
        ("@org/kit/ui/menu", ["kit/src/ui/menu.tsx"]),
        ("plain", ["plain/index.js"]),
        ("plain/lib/x.js", ["plain/lib/x.js"]),
        ("@org/kit/../../out", []),
        ("@org", []),
        ("react", []),
    ],
)
def test_a_package_of_the_workspace_is_known_by_its_name(name: str, meant: list[str]) -> None:
    files = ["kit/src/index.ts", "kit/src/ui/button.tsx", "kit/src/ui/menu.tsx", "kit/style.css"]
    files += ["plain/index.js", "plain/lib/x.js"]
    plain = '{"name": "plain"}'
    manifests = {"kit__package_json": PACKAGE, "plain__package_json": plain}
    assert built("app/src/a.ts", f"import '{name}'", *files, **manifests) == meant


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("#util", ["app/src/util.ts"]),
        ("#in/b/c", ["app/src/in/b/c.js"]),
        ("#dep", []),
        ("#none", []),
    ],
)
def test_imports_of_a_package_resolve_to_its_own_files(name: str, meant: list[str]) -> None:
    manifests = (
        '{"imports": {"#util": {"node": "./src/util.js"}, "#in/*": "./src/in/*.js", "#dep": "x"}}'
    )
    files = ["app/src/util.ts", "app/src/in/b/c.js", "x.js"]
    assert built("app/src/a.ts", f"import '{name}'", *files, app__package_json=manifests) == meant


@pytest.mark.parametrize(
    "manifests",
    [
        '{"name": 3, "exports": [[[]]], "imports": "#x"}',
        '{"name": "kit", "exports": {".": {"a": {"b": 1}}, "./**": "./x"}}',
        '{"name": "kit", "exports": "../../out.js"}',
        '{"name": "kit", "exports": ' + "[" * 50_000 + "]" * 50_000 + "}",
        "{",
    ],
    ids=lambda manifests: manifests[:40],
)
def test_invalid_package_json_resolves_nothing(manifests: str) -> None:
    assert built("a.ts", "import 'kit'", "out.js", kit__package_json=manifests) == []


@pytest.mark.parametrize(
    ("name", "piece", "end"),
    [
        ("package.json", '{"exports": {"./a": ' + '{"b": [' * 400, "]}" * 400 + "}}"),
        ("package.json", '{"exports": ' + '{"./*": {"x": ["./a", ' * 90, "1" + "]}}" * 90 + "}"),
        ("package.json", '{"exports": {"./a": [', ", ".join(['"./dist/x"'] * 15_000) + "]}}"),
        ("go.mod", "replace " * 20_000, ""),
        ("go.mod", "a =>" + " " * 100_000, "./"),
        ("Cargo.toml", "a." * 90_000, "b = 1"),
        ("Cargo.toml", '[package]\nname = "' + "x" * 100_000, '"\n[lib]\n'),
    ],
)
def test_a_hostile_build_file_is_read_in_a_moment(name: str, piece: str, end: str) -> None:
    start = time.process_time()
    read_build(piece + end, name)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("name", "meant"),
    [("@/x", ["src/x.ts"]), ("~/x", ["src/x.ts"]), ("last", ["src/x.ts"]), ("%/x", ["src/x.ts"])],
)
def test_tsconfig_extends_several_files_and_has_references(name: str, meant: list[str]) -> None:
    manifests = {
        "tsconfig_json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "p"}]}',
        "tsconfig_app_json": '{"extends": ["./tsconfig.a", "./tsconfig.b.json", "@org/base", 3],'
        ' "compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
        "tsconfig_a_json": '{"compilerOptions": {"paths": {"~/*": ["./src/*"], "last": ["gone"]}}}',
        "tsconfig_b_json": '{"extends": "./tsconfig.app.json",'
        ' "compilerOptions": {"paths": {"last": ["./src/x"]}}}',
        "p__tsconfig_json": '{"compilerOptions": {"paths": {"%/*": ["../src/*"]}}}',
    }
    assert built("app/a.ts", f"import '{name}'", "src/x.ts", "src/gone.ts", **manifests) == (
        ["src/x.ts"] if name != "last" else meant
    )


@pytest.mark.parametrize(
    ("package", "meant"),
    [
        ("z.org/q/in", ["local/in/a.go"]),
        ("z.org/r", ["other/r.go"]),
        ("v.org/dep/sub", ["vendor/v.org/dep/sub/d.go"]),
        ("z.org/far", []),
    ],
)
def test_go_module_replaces_others_and_vendors_copies(package: str, meant: list[str]) -> None:
    files = ["local/in/a.go", "other/r.go", "vendor/v.org/dep/sub/d.go"]
    mod = (
        "module x.org/p\nrequire z.org/q v1.0.0\nreplace z.org/q v1.0.0 => ./local\n"
        'replace (\n\t"z.org/r" => ./other // here\n\tz.org/far => z.org/near v2.0.0\n)\n'
    )
    assert built("cmd/a.go", f'import "{package}"', *files, go_mod=mod) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("use my_kit::part::Thing;", ["kit/src/part.rs"]),
        ("use my_kit::Thing;", ["kit/src/lib.rs"]),
        ("use my_kit::*;", ["kit/src/lib.rs"]),
        ("use ::my_kit::Thing;", ["kit/src/lib.rs"]),
        ("use my_kit::{part::Thing, Other};", ["kit/src/lib.rs"]),
        ("use named::Thing;", ["odd/code/root.rs"]),
        ("use odd::Thing;", []),
        ("use serde::Thing;", []),
        ("use some::Thing;", []),
        ("use app::Thing;", []),
    ],
)
def test_a_crate_of_the_workspace_is_known_by_its_name(text: str, meant: list[str]) -> None:
    files = ["kit/src/lib.rs", "kit/src/part.rs", "odd/code/root.rs", "some/src/lib.rs"]
    manifests = {
        "kit__Cargo_toml": '[ package ] # it\nname = "my-kit"\n[dependencies.x]\npath = "../x"\n',
        "odd__Cargo_toml": '[package]\nname = "odd"\n[lib]\nname = "named"\npath = "code/root.rs"\n',
        "some__Cargo_toml": '[[bin]]\nname = "some"\n[dependencies.kit]\npath = "../kit"\n',
        "app__Cargo_toml": '[package]\nname = "app"\n',
    }
    assert built("app/src/lib.rs", text, *files, **manifests) == meant


@pytest.mark.parametrize(
    "manifests", ["", "[package", "package = 3", "[package]\nname = 3", "\0", "[" * 99_999]
)
def test_invalid_manifest_resolves_nothing(manifests: str) -> None:
    assert read_build(manifests, "Cargo.toml") == BuildFile()


def test_a_name_of_a_package_follows_a_file_that_moves_in_it() -> None:
    world = {
        "kit/package.json": '{"name": "@org/kit", "exports": {"./to/*": "./ui/*"}}',
        "kit/src/menu.ts": "",
        "kit/ui/b.ts": "",
        "app/a.ts": "import '@org/kit/menu'\nimport '@org/kit/to/b'\n",
    }
    after, left = move(world, "kit/src/menu.ts", "kit/src/in/list.ts")
    assert (after["app/a.ts"], left) == ("import '@org/kit/in/list'\nimport '@org/kit/to/b'\n", [])
    after, left = move(world, "kit/ui/b.ts", "kit/ui/c.ts")
    assert (after["app/a.ts"], left) == ("import '@org/kit/menu'\nimport '@org/kit/to/c'\n", [])
    after, left = move(world, "kit/src/menu.ts", "other/list.ts")
    assert (after["app/a.ts"], left) == ("import '../other/list'\nimport '@org/kit/to/b'\n", [])


def test_a_path_from_a_crate_or_a_module_beside_follows_a_file_that_moves_in_it() -> None:
    world = {
        "kit/Cargo.toml": '[package]\nname = "kit"\n',
        "kit/src/lib.rs": "mod a;\nuse a::Thing;\n",
        "kit/src/a.rs": "",
        "app/src/main.rs": "use kit::a::Thing;\n",
        "app/src/x.rs": "use kit::{a::Thing, b};\n",
    }
    after, left = move(world, "kit/src/a.rs", "kit/src/c.rs")
    assert left == []
    assert after["kit/src/lib.rs"] == "mod c;\nuse c::Thing;\n"
    assert after["app/src/main.rs"] == "use kit::c::Thing;\n"
    assert after["app/src/x.rs"] == "use kit::{c::Thing, b};\n"
    after, left = move(world, "kit/src/a.rs", "app/src/a.rs")
    assert ("kit/src/lib.rs", "a::Thing") in left
    assert ("app/src/x.rs", "a::Thing") in left
    assert after["app/src/main.rs"] == "use crate::a::Thing;\n"


def test_pictures_and_headers_follow_from_the_folder_they_count_from() -> None:
    world = {
        "a.tex": "\\graphicspath{{im/}}\\includegraphics{x}",
        "im/x.png": "",
        "s/a.c": "#include <lib/b.h>\n",
        "include/lib/b.h": "",
        "s/b.c": "#include <k.h>\n#include <stdio.h>\n",
        "include/k.h": "",
        "s/a.ts": '/// <reference path="t.d.ts" />',
        "s/t.d.ts": "",
    }
    assert move(world, "im/x.png", "im/in/y.png")[0]["a.tex"].endswith("{in/y}")
    assert move(world, "include/lib/b.h", "include/lib/c.h")[0]["s/a.c"] == "#include <lib/c.h>\n"
    after, left = move(world, "include/k.h", "include/lib/k.h")
    assert (after["s/b.c"], left) == ("#include <lib/k.h>\n#include <stdio.h>\n", [])
    assert move(world, "include/k.h", "s/k.h")[1] == [("s/b.c", "k.h")]
    after, left = move(world, "s/t.d.ts", "u.d.ts")
    assert (after["s/a.ts"], left) == ('/// <reference path="../u.d.ts" />', [])
