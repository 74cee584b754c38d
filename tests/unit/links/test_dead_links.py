"""Which links are dead, and what may be meant."""

from stet.links.dead_links import DeadLinkChecker, NameSuggestions
from stet.links.link_scan import scan_links
from stet.settings.values import ContextSettings, Settings
from tests.support.workspaces import make_workspace, uri_at


def dead(files: dict[str, str | bytes], source: str, settings: Settings | None = None) -> list[str]:
    """The dead links of one file, as they are written."""
    snapshot = make_workspace(files, settings=settings).snapshot()
    scan = scan_links(snapshot)
    judge = DeadLinkChecker(snapshot, scan)
    return [edge.link.written for edge in scan.outgoing(uri_at(source)) if judge.is_dead(edge)]


def test_links_to_binary_files_and_folders_are_not_dead() -> None:
    note = (
        "![[pic.png]] ![p](../img/pic.png) [f](sub/) [r](/img/pic.png) [up](../../beside.md)\n"
        "[[gone.png]] ![g](gone.png) [[Gone]] [w](https://x.y/z) [s](#here) [[n/pic.png]]\n"
    )
    files: dict[str, str | bytes] = {
        "/ws/n/a.md": note,
        "/ws/img/pic.png": b"\0",
        "/ws/n/sub/b.md": "",
    }
    assert dead(files, "/ws/n/a.md") == ["gone.png", "gone.png", "Gone", "n/pic.png"]


def test_only_relative_imports_are_dead() -> None:
    files: dict[str, str | bytes] = {
        "/ws/a.py": "import os, numpy\nfrom . import x\nfrom .gone import y\nfrom .b import z\n",
        "/ws/b.py": "",
        "/ws/c.ts": "import 'react'\nimport './gone'\nimport './c.png'\nimport '@/x'\n",
        "/ws/c.png": b"\0",
    }
    assert dead(files, "/ws/a.py") == [".gone"]
    assert dead(files, "/ws/c.ts") == ["./gone"]


def test_modules_of_rust_that_are_there_are_not_dead() -> None:
    files: dict[str, str | bytes] = {
        "/ws/Cargo.toml": "",
        "/ws/build.rs": "mod made;\nmod gone;\n",
        "/ws/made.rs": "",
        "/ws/src/lib.rs": 'mod a { mod b; mod gone; }\n#[path = "x/y.rs"] mod z;\n'
        '#[path = "x/gone.rs"] mod w;\n#[cfg_attr(unix, path = "x/y.rs")] mod u;\n',
        "/ws/src/a/b.rs": "",
        "/ws/src/x/y.rs": "",
        "/ws/tests/it.rs": "mod common;\nmod gone;\n",
        "/ws/tests/common/mod.rs": "",
    }
    assert dead(files, "/ws/build.rs") == ["gone"]
    assert dead(files, "/ws/src/lib.rs") == ["gone", "x/gone.rs"]
    assert dead(files, "/ws/tests/it.rs") == ["gone"]


def test_scripts_and_styles_that_a_bundler_finds_are_not_dead() -> None:
    files: dict[str, str | bytes] = {
        "/ws/a.ts": "import './s.png?url'\nimport './gone.js?worker'\nimport './types.js'\n"
        "import './x.cjs'\nimport './lib'\nimport './none'\n",
        "/ws/s.png": b"\0",
        "/ws/types.d.ts": "",
        "/ws/x.cts": "",
        "/ws/lib/package.json": '{"module": "m.js"}',
        "/ws/lib/m.js": "",
        "/ws/none/package.json": '{"module": "m.js"}',
        "/ws/a.css": '@import "./x.css?v=1";\n@import "./y.css?v=1";\n',
        "/ws/x.css": "",
    }
    assert dead(files, "/ws/a.ts") == ["./gone.js", "./none"]
    assert dead(files, "/ws/a.css") == ["./y.css"]


def test_pictures_of_latex_and_folders_of_sass_are_not_dead() -> None:
    files: dict[str, str | bytes] = {
        "/ws/a.tex": "\\includegraphics{fig}\n\\includegraphics{in/plot}\n\\includegraphics{gone}\n",
        "/ws/fig.pdf": b"%PDF\0",
        "/ws/in/plot.png": b"\0",
        "/ws/a.scss": '@use "./mixins";\n@use "./gone";\n',
        "/ws/mixins/_index.scss": "",
    }
    assert dead(files, "/ws/a.tex") == ["gone"]
    assert dead(files, "/ws/a.scss") == ["./gone"]


def test_hidden_and_outside_targets_are_not_reported() -> None:
    note = (
        "[a](private/x.md) [b](private/none.md) [c](.env) [d](/../etc/passwd) [e](/.env)\n"
        "[f](../../etc/none) [g](a%00b.md) [h](none.md)\n"
    )
    hidden = Settings(context=ContextSettings(excluded_folders=("private",)))
    bare: dict[str, str | bytes] = {"/ws/a.md": note}
    full = bare | {"/ws/private/x.md": "", "/ws/.env": "", "/etc/passwd": ""}
    assert dead(bare, "/ws/a.md", hidden) == ["a%00b.md", "none.md"]
    assert dead(full, "/ws/a.md", hidden) == ["a%00b.md", "none.md"]


def test_near_names_are_those_that_look_alike() -> None:
    names = NameSuggestions(
        ["docs/installation.md", "docs/usage.md", "install_guide.md", "src/usage.py"]
    )
    assert names.suggest("instalation")[0] == "docs/installation.md"
    assert names.suggest("Usage.md") == ("src/usage.py", "docs/usage.md")
    assert names.suggest("install-guide", 1) == ("install_guide.md",)
    assert names.suggest("uasge") == ("src/usage.py", "docs/usage.md")
    assert names.suggest("quux") == ()
    assert names.suggest("") == ()
