"""Imports of the common languages: what names a file, and what is in comments and strings."""

import time

import pytest

from stet.links.links import find_links
from tests.support.growth import grows_evenly

pytestmark = pytest.mark.slow


CASES = {
    "a.py": (
        "import os, a.b as c; import d\n"
        "from . import x, y as z\n"
        "from .m.n import (p,  # from q import r\n    s as t,\n)\n"
        '"""\nimport no\n"""\nif x:\n    from e import *\ny = "import no"\n',
        ["os", "a.b", "d", ".", "x", "y", ".m.n", "p", "s", "e"],
    ),
    "b.py": (
        "from pkg import \\\n    a\nimport os, \\\r\n  pkg.b\nexcept ImportError: import pkg.c\n"
        "if 1: from pkg import d\ndef f(): from . import e\nfrom . import*\nfrom .x import(y)\n"
        "from..z import w\nfrom .import v\nx = {'a': 'import no'}; else:import u\n"
        "reimport no\nyield from important\n",
        ["pkg", "a", "os", "pkg.b", "pkg.c", "pkg", "d", ".", "e", ".", ".x", "y", "..z", "w", ".",
         "v", "u"],
    ),
    "a.ts": (
        "import a, {b} from './a';\nimport './side';\nexport * from \"../b.js\"\n"
        "const c = require('./c'), d = await import(\"./d\");\n"
        "// from './no'\n/* from './no' */ x = `from './no'`\nimport {\n  e\n} from './e';\n",
        ["./a", "./side", "../b.js", "./c", "./d", "./e"],
    ),
    "b.ts": ("import './s.svg?raw'; import './x.js?worker&inline'\nimport \"./y.js#part\"\n"
             "import '#own/x'; import('./z?')\n",
             ["./s.svg", "./x.js", "./y.js", "#own/x", "./z"]),
    "a.vue": ("<script>\nimport A from './A.vue'\n</script>\n", ["./A.vue"]),
    "a.c": ('#include "x/y.h"\n # include "z.h"\n#include <t.h>\n// #include "no.h"\n',
            ["x/y.h", "z.h", "t.h"]),
    "b.c": ("#include <lib/x.h>\n#include <t.h>\n/* #include <no/x.h> */\n#import <b/y.h>\n",
            ["lib/x.h", "t.h", "b/y.h"]),
    "c.ts": ('/// <reference path="a.d.ts" />\n///<reference lib="es6" path=\'./b\'/>\n// <reference path="no">\n',
             ["a.d.ts", "./b"]),
    "c.rs": ("use a::b::{C, d::E};\nuse ::f::G;\nuse h::*;\nuse core::no;\nuse i;\n",
             ["a::b", "C", "d::E", "f::G", "h", "i"]),
    "a.rs": ("mod a;\npub(crate) mod b;\nuse crate::x::Y;\n  use super::z::{A};\nuse std::io;\n"
             "fn f<'a>(x: &'a str) { let c = '\"'; }\nmod c { }\n// mod no;\n",
             ["a", "b", "crate::x::Y", "super::z", "A"]),
    "lib.rs": ("use crate::{a, b::{self, c as d, e::F}, g};\npub use self::h::{i,\n    // no\n    j};\n"
               "use std::{k, l};\nuse crate::{m::{n}, o}; use crate::p;\n",
               ["a", "b", "c", "e::F", "g", "self::h", "i", "j", "m", "n", "o", "crate::p"]),
    "b.rs": ("use super::*;\nuse crate::*;\nuse self::*;\n#[cfg(x)] mod a;\n"
             "#[path = \"x/y.rs\"]\n#[cfg(test)] // why\npub mod b;\n#[path = r\"z.rs\"] mod c;\n"
             "fn f() { use super::d; }\nmod t { use super::*; mod e; }\n// #[path = \"no\"] mod no;\n"
             "const NO: &str = \"\nmod no;\n\";\nuse crate::{\n    g::h::{X},\n};\n",
             ["super", "crate", "a", "x/y.rs", "z.rs", "super::d", "super", "e", "g::h", "X"]),
    "a.go": ('package x\nimport "fmt"\nimport (\n\t"a.org/b/c"\n\tq "a.org/d"\n)\nvar s = "x/y"\n',
             ["a.org/b/c", "a.org/d"]),
    "A.java": ("import a.b.C;\nimport static a.b.C.m;\nimport a.*;\n// import no.A;\n",
               ["a.b.C", "a.b.C.m", "a.*"]),
    "a.kt": ("import a.b.C as D\n", ["a.b.C"]),
    "a.rb": ("require_relative 'x/y'\nrequire 'json'\n# require_relative 'no'\n", ["x/y"]),
    "a.php": ("<?php\nrequire_once __DIR__ . '/x.php';\nuse App\\Models\\User;\n",
              ["/x.php", "App\\Models\\User"]),
    "a.scss": ('@import "x";\n@use \'y\';\n@import url(z.css);\n/* @import "no"; */\n',
               ["x", "y", "z.css"]),
    "b.css": ('@import "./x.css?v=1";\n@import url(y.css#z);\n@import url("z.css?a");\n',
              ["./x.css", "y.css", "z.css"]),
    "a.tex": ("\\input{ch/one} % \\input{no}\n\\include{two}\\includegraphics[width=1cm]{p.pdf}\n",
              ["ch/one", "two", "p.pdf"]),
    "b.tex": ("\\input{ my file } \\input{ }\n", ["my file"]),
    "a.html": ('<link rel="x" href="a.css"><script src="b.js"></script>', ["a.css", "b.js"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_imports_are_found_where_the_language_has_them(name: str) -> None:
    text, targets = CASES[name]
    found = find_links(text, name)
    assert [link.written for link in found] == targets
    assert [text[link.start : link.end] for link in found] == targets


def test_name_after_from_has_its_module_and_alias() -> None:
    found = find_links("from ..a import b, c as d\n", "x.py")
    assert [(link.written, link.context, link.renamed) for link in found] == [
        ("..a", "", False),
        ("b", "..a", False),
        ("c", "..a", True),
    ]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "piece",
    ['"', "'''\"", "/*", "from a import (", "`", "\\input{", "from ", "@import url(", "from .",
     "require (", "use a\\", "\n#", "import a.", "<a href='", "\n\t"],
)  # fmt: skip
def test_hostile_code_costs_no_more_than_its_length(name: str, piece: str) -> None:
    start = time.process_time()
    find_links(piece * (30_000 // len(piece)), name)
    find_links("from " + piece[-1] * 30_000, name)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("a.rs", "mod a {"),
        ("a.rs", "mod a { mod b; "),
        ("a.rs", "mod "),
        ("a.rs", "use crate::{a::{"),
        ("a.rs", "#[path="),
        ("a.rs", "#[cfg_attr path"),
        ("a.rs", 'r#"#'),
        ("a.rs", "r#"),
        ("a.ts", "import '?"),
        ("a.py", "\\\n"),
        ("a.py", "import \\\n"),
        ("a.py", "from.import"),
        ("a.py", "from . import("),
        ("a.py", ": from a import*"),
        ("A.java", "import a.*"),
        ("a.tex", "\\includegraphics["),
        ("a.tex", "\\includegraphics{ "),
        ("a.ts", "import './"),
        ("a.css", "@import '?"),
        ("a.css", "@import url(?"),
        ("a.ts", "/// <reference "),
        ("a.ts", "/// <reference path='"),
        ("a.tex", "\\graphicspath{{a}"),
        ("a.tex", "\\graphicspath{ {"),
        ("a.c", "#include <"),
        ("a.c", "#include <a/"),
        ("a.rs", "use a::"),
        ("a.rs", "use a::{b,"),
        ("a.md", "---\na: [["),
        ("a.md", "---\na: [[b]]"),
    ],
)
def test_hostile_code_takes_twice_as_long_when_it_is_twice_as_long(name: str, piece: str) -> None:
    def text(n: int) -> str:
        return piece * (n // len(piece)) + " " * n + piece[-1] * n

    assert grows_evenly(lambda text: find_links(text, name), text, 20_000)
