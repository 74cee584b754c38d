"""What a text links to: pure, by the ending of the file's name.

find_links("See [[Setup]].", "notes/a.md")
(Link(LinkKind.WIKI, "Setup", 6),)
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from stet.links import imports
from stet.links.imports import find_rust
from stet.links.link import Link
from stet.links.markdown_links import find_html_links, find_markdown_links, find_mdx_links
from stet.text.document import MARKDOWN, ending_of

MAX_CHARACTERS = 1_000_000
"""A longer text is not scanned: no person wrote it."""

_Finder = Callable[[str], Iterator[Link]]
_SCRIPT = (imports.find_javascript, imports.find_references)
_MARKUP = (imports.find_javascript, find_html_links)

_ENDINGS: tuple[tuple[str, tuple[_Finder, ...]], ...] = (
    (" ".join(ending[1:] for ending in MARKDOWN if ending != ".mdx"), (find_markdown_links,)),
    ("mdx", (find_mdx_links,)),
    ("py pyi", (imports.find_python,)),
    ("js jsx mjs cjs ts tsx mts cts", _SCRIPT),
    ("vue svelte astro", _MARKUP),
    ("html htm", (find_html_links,)),
    ("c h cc cpp cxx hh hpp hxx inl m mm cu cuh", (imports.find_c,)),
    ("rs", (find_rust,)),
    ("go", (imports.find_go,)),
    ("java kt kts groovy scala", (imports.find_jvm,)),
    ("rb", (imports.find_ruby,)),
    ("php", (imports.find_php_files, imports.find_php_uses)),
    ("css scss sass less", (imports.find_css,)),
    ("tex ltx sty cls", (imports.find_latex, imports.find_latex_images)),
)
_FINDERS: Mapping[str, tuple[_Finder, ...]] = MappingProxyType(
    {f".{ending}": finders for endings, finders in _ENDINGS for ending in endings.split()}
)


def has_links(name: str) -> bool:
    """Whether files of this name can link to others at all, so that they are worth reading."""
    return ending_of(name) in _FINDERS


def find_links(text: str, name: str) -> tuple[Link, ...]:
    """Return the links in `text`, a file called `name`, in order of place.

    Links to the web are left out; whether the others lead to a file is not known here.
    """
    if len(text) > MAX_CHARACTERS:
        return ()
    found = {link for find in _FINDERS.get(ending_of(name), ()) for link in find(text)}
    return tuple(sorted(found, key=lambda link: (link.start, link.end, link.kind)))
