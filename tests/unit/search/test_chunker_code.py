"""Code of other languages cut into passages by its look."""

import textwrap

import pytest

from stet.search.chunker import chunk_file

GO = """\
package main

// Server serves.
type Server struct {
	name string
}

// Run runs.
func (s *Server) Run(ctx context.Context,
	n int) error {
	return nil
}

func main() { fmt.Println("{") }
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

impl<'a> Point<'a> {
    pub fn len<T>(
        &self,
    ) -> usize
    where
        T: Sized,
    {
        0
    }
}

trait Goes {
    fn go(&self);
}
"""
JAVA = """\
package a;

/**
 * Doc.
 */
@Deprecated
public class A<T> extends B {
    private int x = 1;

    @Override
    public <U> List<U> run(
            int a, String b) throws IOException {
        if (a > 1) {
            return null;
        } else {
            return x;
        }
    }

    int y;

    interface Inner {
        void go();
    }
}
"""
TYPESCRIPT = """\
import {a} from "b";

export interface Options {
  name: string;
}

// comment
export const make = async (a: number): Promise<void> => {
  await x;
};

@Component({
  selector: "x",
})
export class Foo extends Bar {
  async run<T>({ a, b }: Args = {}): Promise<T> {
    for (const x of y) {
    }
  }

  #hidden(a) {
  }
}

describe("x", () => {
  it("y");
});

function outer(a) {
  const t = `
}
`;
  function inner() {}
  return inner;
}
"""
C = """\
#include <stdio.h>

struct point {
    int x;
};

/* Adds.
   More. */
static int
add(int a, int b)
{
#ifdef X
    goto out;
#endif
out:
    return a + b;
}

struct point *make(void);

struct point *make(void)
{
    return NULL;
}
"""
LUA = """\
local M = {}

-- doc
function M.run(a)
  if a then
    return 1
  end
end
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.go",
            GO,
            """
            0-1
            2-6 Server | type Server struct
            7-12 Run | func (s *Server) Run(ctx context.Context, n int) error
            13-14 main | func main()
            """,
        ),
        (
            "a.rs",
            RUST,
            """
            0-1
            2-9 Point | pub struct Point<'a>
            10-11 impl<'a> Point<'a> | impl<'a> Point<'a>
            11-20 impl<'a> Point<'a>.len | pub fn len<T>( &self, ) -> usize
            21-22 Goes | trait Goes
            22-24 Goes.go | fn go(&self);
            """,
        ),
        (
            "A.java",
            JAVA,
            """
            0-1
            2-8 A | public class A<T> extends B
            9-18 A.run | public <U> List<U> run( int a, String b) throws IOException
            19-20 A.
            21-25 A.Inner | interface Inner
            """,
        ),
        (
            "a.ts",
            TYPESCRIPT,
            """
            0-1
            2-5 Options | export interface Options
            6-10 make | export const make = async (a: number): Promise<void>
            11-15 Foo | export class Foo extends Bar
            15-19 Foo.run | async run<T>({ a, b }: Args = {}): Promise<T>
            20-23 Foo.hidden | #hidden(a)
            24-27
            28-35 outer | function outer(a)
            """,
        ),
        (
            "a.c",
            C,
            """
            0-1
            2-5 point | struct point
            6-17 add | add(int a, int b)
            18-19
            20-24 make | struct point *make(void)
            """,
        ),
        (
            "a.lua",
            LUA,
            """
            0-1
            2-8 M.run | function M.run(a)
            """,
        ),
    ],
)
def test_code_is_cut_at_what_it_defines(name: str, text: str, expected: str) -> None:
    found = []
    for each in chunk_file(text, name):
        assert each.is_definition == bool(each.name) == bool(each.signature)
        path = f" {each.scope}.{each.name}" if each.scope else f" {each.name}".rstrip()
        found.append(f"{each.first}-{each.end}{path}" + f" | {each.signature}" * each.is_definition)
    assert found == textwrap.dedent(expected).strip().split("\n")


def test_what_only_closes_something_belongs_to_the_passage_above() -> None:
    text = "class A\n  def f\n    1\n  end\n\nend\n"
    assert [(each.first, each.end) for each in chunk_file(text, "a.rb")] == [(0, 1), (1, 6)]
