"""Names of languages by the endings of files, as editors call them."""

from collections.abc import Mapping
from types import MappingProxyType

from stet.text.document import MARKDOWN

_NAMES = """
python: py pyi pyw
javascript: js mjs cjs
javascriptreact: jsx
typescript: ts mts cts
typescriptreact: tsx
rust: rs
go: go
c: c h
cpp: cc cpp cxx hh hpp hxx
csharp: cs
java: java
kotlin: kt kts
scala: scala
swift: swift
ruby: rb
php: php
perl: pl pm
lua: lua
r: r
julia: jl
elixir: ex exs
erlang: erl
haskell: hs
ocaml: ml mli
clojure: clj cljs
dart: dart
zig: zig
shellscript: sh bash zsh
powershell: ps1
sql: sql
html: html htm
css: css
scss: scss
sass: sass
less: less
vue: vue
svelte: svelte
xml: xml svg
json: json
jsonc: jsonc
yaml: yaml yml
toml: toml
ini: ini cfg
latex: tex ltx sty cls
bibtex: bib
restructuredtext: rst
asciidoc: adoc
org: org
plaintext: txt
"""
_BY_ENDING: Mapping[str, str] = MappingProxyType(
    {
        f".{ending}": name
        for line in _NAMES.strip().splitlines()
        for name, endings in [line.split(": ")]
        for ending in endings.split()
    }
    | dict.fromkeys(MARKDOWN, "markdown")
)


def language_named(ending: str) -> str:
    """Return the language of files with the given ending of a name (`.py`); `""` if unknown."""
    return _BY_ENDING.get(ending.lower(), "")
