"""What a move does to the links of notes, and to paths of any kind."""

from stet.notes.note_properties import read_properties
from tests.support.move_oracle import move


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
    assert "up" in read_properties(after["d.md"])
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
