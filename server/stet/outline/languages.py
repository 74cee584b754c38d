"""Names of languages by the endings of files, as editors call them."""

from collections.abc import Mapping
from types import MappingProxyType

from stet.text.document import MARKDOWN

_NAMED_BY_ENDING = """
go c cpp java scala swift php lua r dart zig sql html css scss sass less vue svelte xml json
jsonc yaml toml ini org
"""
"""Languages whose name is also an ending."""
_ENDINGS = """
python: py pyi pyw
javascript: js mjs cjs
javascriptreact: jsx
typescript: ts mts cts
typescriptreact: tsx
rust: rs
c: h
cpp: cc cxx hh hpp hxx
csharp: cs
kotlin: kt kts
ruby: rb
perl: pl pm
julia: jl
elixir: ex exs
erlang: erl
haskell: hs
ocaml: ml mli
clojure: clj cljs
shellscript: sh bash zsh
powershell: ps1
html: htm
xml: svg
yaml: yml
ini: cfg
latex: tex ltx sty cls
bibtex: bib
restructuredtext: rst
asciidoc: adoc
plaintext: txt
"""
_BY_ENDING: Mapping[str, str] = MappingProxyType(
    {
        f".{ending}": name
        for line in _ENDINGS.strip().splitlines()
        for name, endings in [line.split(": ")]
        for ending in endings.split()
    }
    | {f".{name}": name for name in _NAMED_BY_ENDING.split()}
    | dict.fromkeys(MARKDOWN, "markdown")
)


def language_named(ending: str) -> str:
    """Return the language of files with the given ending of a name (`.py`); `""` if unknown."""
    return _BY_ENDING.get(ending.lower(), "")
