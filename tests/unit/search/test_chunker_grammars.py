"""Code cut into passages by the grammar of its language, asked of the process that asks
grammars.
"""

import textwrap
from collections.abc import Iterator

import pytest

from stet.outline import grammar_definitions as grammars
from stet.outline.grammar_definitions import GRAMMARS
from stet.search.chunk import FileStamp, SourceFile
from stet.search.chunker import chunk_file
from stet.search.outliner import Outliner
from stet.search.search_engine import digest

BASH = """\
set -e

# Says hello.
hello() {
  echo "}"
}
function bye
{
  echo bye
}
"""
C = """\
#include <stdio.h>

/* A place. */
typedef struct {
    int x;
} Place;

enum colour {
    RED
};

/* Where it is. */
Place *find(int x);
int plain(void);

static int
add (int       a,
     OTHER    *b)
{
    return a;
}

struct list { int (*call)(int); } lists[3];
"""
CPP = """\
namespace boats {

// Largest.
template <class T>
class Fleet : public Base<T> {
public:
    Fleet() : n_(0) {}
    ~Fleet() override { close(); }

    bool operator==(const Fleet &other) const
    {
        return true;
    }
    int size() const;
};

}

int boats::Fleet::size() const { return 1; }
"""
HEADER = """\
class Fleet
{
  int size() { return 1; }
};
"""
GO = """\
package main

// Server serves.
type Server struct {
	name string
}

type (
	A = int
	B interface {
		Go()
	}
)

// Run runs.
func (s *Server) Run(ctx context.Context,
	n int) error {
	return nil
}

func Map[K comparable, V any](m map[K]V) []V { return nil }
"""
JAVA = """\
package a;

/**
 * Doc.
 */
@Deprecated(since = "1")
public class A<T> extends B {
    private int x = 1;

    A(int x) { this.x = x; }

    @Override
    public <U> List<U> run(
            int a, String b) throws IOException {
        synchronized (lock) {
            return x;
        }
    }

    record Pair(int a) {
        Pair { }
    }

    interface Inner {
        void go();
    }
}
"""
JAVASCRIPT = """\
"use strict";

// Adds.
export default function add(a, b) {
  return a + b;
}

module.exports.close = async function () {
  return 1;
};

const table = {
  open: (name) => name,
  ["shut"]() {
  },
};

const one = () => 1, two = 2;

class Boat extends Vessel {
  static #count = 0;
  moor = () => {
    this.x();
  };
  get #name() { return 1; }
  *[Symbol.iterator]() {
  }
}

call(function (x) {
  return x;
});
"""
RUST = """\
const X: u8 = 1;

/// A point.
#[derive(
    Debug,
)]
pub struct Point<'a> {
    x: &'a str,
}

unsafe impl<'a, T> Goes for Point<'a>
where
    T: Sized,
{
    /// How long.
    pub fn len<T>(
        &self,
    ) -> usize
    where
        T: Sized,
    {
        0
    }
}

pub trait Goes {
    fn go(&self);
    fn stop(&self) {}
}

macro_rules! boat {
    () => {};
}

mod elsewhere;
"""
TYPESCRIPT = """\
import {a} from "b";

export interface Options {
  name(): string;
}

// comment
export const make = async (a: number): Promise<void> => {
  await x;
};

@Component({
  selector: "x",
})
export abstract class Foo extends Bar {
  @Input()
  async run<T>({ a, b }: Args = {}): Promise<T> {
    for (const x of y) {
    }
  }

  abstract stop(): void;
}

type Way =
  | "up"
  | "down";

declare module "boats" {
  function land(name: string): void;
}

namespace Inner {
  enum Kind { A }
}
"""
TSX = """\
function View(props: Props): Node {
  return <div class="}">{props.name}</div>;
}
"""
CASES = [
    ("a.sh", BASH, """
        0-1
        2-6 hello | hello()
        6-10 bye | function bye
        """),
    ("a.c", C, """
        0-1
        2-6 Place | typedef struct
        7-10 colour | enum colour
        11-13 find | Place *find(int x);
        13-14
        15-21 add | static int add (int a, OTHER *b)
        22-23 list | struct list
        """),
    ("a.cpp", CPP, """
        0-1 boats | namespace boats
        2-6 boats.Fleet | template <class T> class Fleet : public Base<T>
        6-7 boats.Fleet.Fleet | Fleet() : n_(0)
        7-8 boats.Fleet.~Fleet | ~Fleet() override
        9-13 boats.Fleet.operator== | bool operator==(const Fleet &other) const
        13-17 boats.Fleet.
        18-19 boats::Fleet::size | int boats::Fleet::size() const
        """),
    ("a.h", HEADER, """
        0-2 Fleet | class Fleet
        2-4 Fleet.size | int size()
        """),
    ("a.go", GO, """
        0-1
        2-6 Server | type Server struct
        7-8
        8-9 A | A = int
        9-13 B | B interface
        14-19 Run | func (s *Server) Run(ctx context.Context, n int) error
        20-21 Map | func Map[K comparable, V any](m map[K]V) []V
        """),
    ("A.java", JAVA, """
        0-1
        2-8 A | public class A<T> extends B
        9-10 A.A | A(int x)
        11-18 A.run | public <U> List<U> run( int a, String b) throws IOException
        19-20 A.Pair | record Pair(int a)
        20-22 A.Pair.Pair | Pair
        23-27 A.Inner | interface Inner
        """),
    ("a.js", JAVASCRIPT, """
        0-1
        2-6 add | export default function add(a, b)
        7-10 module.exports.close | module.exports.close = async function ()
        11-12
        12-13 open | open: (name)
        13-16 shut | ["shut"]()
        17-18 one | one = ()
        19-21 Boat | class Boat extends Vessel
        21-24 Boat.moor | moor = ()
        24-25 Boat.name | get #name()
        25-28 Boat.Symbol.iterator | *[Symbol.iterator]()
        29-32
        """),
    ("a.rs", RUST, """
        0-1
        2-9 Point | pub struct Point<'a>
        10-14 impl<'a, T> Goes for Point<'a> | unsafe impl<'a, T> Goes for Point<'a> where T: Sized,
        14-24 impl<'a, T> Goes for Point<'a>.len | pub fn len<T>( &self, ) -> usize where T: Sized,
        25-27 Goes | pub trait Goes
        27-29 Goes.stop | fn stop(&self)
        30-33 boat | macro_rules! boat
        34-35
        """),
    ("a.ts", TYPESCRIPT, """
        0-1
        2-5 Options | export interface Options
        6-10 make | export const make = async (a: number): Promise<void>
        11-15 Foo | export abstract class Foo extends Bar
        15-20 Foo.run | async run<T>({ a, b }: Args = {}): Promise<T>
        21-23 Foo.
        24-27 Way | type Way = | "up" | "down";
        28-29 boats | declare module "boats"
        29-31 boats.land | function land(name: string): void;
        32-33 Inner | namespace Inner
        33-35 Inner.Kind | enum Kind
        """),
    ("a.tsx", TSX, """
        0-3 View | function View(props: Props): Node
        """),
]  # fmt: skip


def source(name: str, text: str) -> SourceFile:
    """A file that has just been read."""
    return SourceFile(f"file:///{name}", name, text, FileStamp(1.0, len(text), digest(text)))


@pytest.fixture(scope="module")
def outliner() -> Iterator[Outliner]:
    """The process, one for all."""
    outliner = Outliner()
    yield outliner
    outliner.close()


@pytest.mark.parametrize(("name", "text", "expected"), CASES)
def test_code_is_cut_at_what_its_grammar_defines(
    outliner: Outliner, name: str, text: str, expected: str
) -> None:
    (outlined,) = outliner.add_outlines([source(name, text)])
    assert outlined.outline is not None
    agreed = []
    for each in chunk_file(text, name, outlined.outline):
        assert each.is_definition == bool(each.signature)
        path = f" {each.scope}.{each.name}" if each.scope else f" {each.name}".rstrip()
        agreed.append(
            f"{each.first}-{each.end}{path}" + f" | {each.signature}" * each.is_definition
        )
    assert agreed == textwrap.dedent(expected).strip().split("\n")


@pytest.mark.parametrize(("name", "text"), [case[:2] for case in CASES])
def test_line_ends_of_any_kind_lead_to_the_same_outline(
    outliner: Outliner, name: str, text: str
) -> None:
    odd = [source(name, text.replace("\n", end)) for end in ("\n", "\r\n", "\r")]
    plain, *others = outliner.add_outlines(odd)
    assert plain.outline
    assert [each.outline for each in others] == [plain.outline] * 2


def test_places_are_those_of_the_text_whatever_its_letters_take() -> None:
    text = "// \ud800 \U0001f6a2 caf\u00e9\n" * 3_000 + "function moor(bo\u00e2t) {\n}\n"
    found = grammars.definitions_by_grammar(text, ".js")
    assert found is not None
    assert [(each.first, each.head, each.end, each.signature) for each in found] == [
        (0, 3_000, 3_002, "function moor(bo\u00e2t)")
    ]


def test_every_language_with_a_grammar_is_tried_here() -> None:
    endings = {"." + name.rpartition(".")[2] for name, _, _ in CASES}
    assert [each for each in GRAMMARS.values() if not endings & set(each.endings.split())] == []


def test_python_notes_and_unknown_files_have_no_grammar(outliner: Outliner) -> None:
    assert [grammars.has_grammar(ending) for ending in (".py", ".md", ".lua", "")] == [False] * 4
    sources = [source("a.py", "def moor(): pass\n"), source("a.md", "# Moor\n")]
    assert outliner.add_outlines(sources) == sources


def test_without_the_package_of_a_grammar_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert grammars.installed_grammars() == " ".join(GRAMMARS)
    monkeypatch.setattr(grammars, "_is_installed", lambda package: "java" in package)
    assert grammars.installed_grammars() == "javascript java"
    assert [grammars.has_grammar(ending) for ending in (".js", ".c")] == [True, False]
    sources = [source("a.c", C)]
    assert Outliner().add_outlines(sources) == sources
