"""Parsing of untrusted JSON or TOML into valid `Settings`, with a sentence for each problem.

Every value is checked separately, so that an invalid value affects only its own setting. No input
makes a function here raise. pydantic is imported when the first value is checked: `initialize` has
been answered by then.
"""

import difflib
import functools
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from stet.settings.value_checks import (
    RESTRICTIONS,
    AddedTexts,
    intended_restriction,
    is_text,
    narrow_value,
    read_restriction,
    shorten,
    show_value,
    url_problem,
)
from stet.settings.values import Settings

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
_Values = dict[str, object]
"""Values by dotted key."""
_Faults = Iterator[tuple[str, str]]
"""The key of each invalid setting, and a sentence."""
MAX_PROBLEMS = 20
"""Further problems are only counted, so that a project file can't fill the log."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a source of settings.

    Attributes:
        key: The dotted key of the setting as users write it (`model.baseUrl`), perhaps shortened.
        message: A sentence that names the setting and the result. Control characters are escaped.
        source: The path of the settings file; empty for the editor.
    """

    key: str
    message: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.message}" if self.source else self.message

    @property
    def without_value(self) -> str:
        """Return the message for a log: without values and unknown keys."""
        # The key of an item starts with the name of the setting that contains the item.
        names = (name for name in _leaves() if f"{self.key}.".startswith((f"{name}.", f"{name}[")))
        named = next(names, "")
        of_other = "an unknown setting is ignored" if self.key else "the file is ignored"
        what = f"{named!r} has an invalid value" if named else of_other
        return f"{self.source}: {what}" if self.source else what


@dataclass(frozen=True, slots=True)
class SettingsLayer:
    """The settings of one source: valid values by dotted key, and the problems."""

    values: Mapping[str, object] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_layer(value: object, source: str = "") -> SettingsLayer:
    """Read the settings that one source contains, without defaults."""
    values: dict[str, object] = {}
    if isinstance(value, Mapping) and "stet" in value:
        value = value["stet"]  # some editors send the section inside an object
    faults = _read(value, "", values)
    problems = [Problem(shorten(key), message, source) for key, message in faults]
    more = len(problems) - MAX_PROBLEMS
    if more > 0:
        problems[MAX_PROBLEMS:] = [Problem("", f"{more} more invalid settings", source)]
    return SettingsLayer(values, tuple(dict.fromkeys(problems)))


def lay_over(values: Mapping[str, object], overlay: SettingsLayer) -> dict[str, object]:
    """Return `values` with the values of a source of higher precedence merged in.

    A preset or a server replaces only one of the same name; `AddedTexts` replace no text.
    """
    return {**values, **{key: _merge(values, key, new) for key, new in overlay.values.items()}}


def _merge(values: Mapping[str, object], key: str, new: object) -> object:
    old = values[key] if key in values else value_at(Settings(), key)
    if not isinstance(old, tuple) or not isinstance(new, tuple):
        return new
    if isinstance(new, AddedTexts):
        return tuple(dict.fromkeys((*new, *old)))
    both = (*old, *new)
    key = _key_of(type(both[0])) if both else ""
    return tuple({getattr(one, key): one for one in both}.values()) if key else new


def to_settings(values: Mapping[str, object]) -> Settings:
    """Return the settings with `values` (valid values, by dotted key) in place of the defaults."""
    return _build(Settings, values, "")


def value_at(settings: Settings, key: str) -> object:
    """Return the value at a dotted key that `read_layer` knows."""
    value: object = settings
    for part in key.split("."):
        value = getattr(value, _snake(part))
    return value


def _read(value: object, prefix: str, values: _Values) -> _Faults:
    """Add the valid settings under `prefix` to `values`; yield the faults."""
    if value is None or value == []:  # some languages send `{}` as an empty list
        return
    if not isinstance(value, Mapping):
        name = prefix.rstrip(".") or "stet"
        yield name, f"setting {name!r} is ignored: {_no_object(value)}"
        return
    for name, item in value.items():
        key = f"{prefix}{name}"
        if f"{key}." in _sections():
            yield from _read(item, f"{key}.", values)
        elif key in _leaves():
            yield from _read_leaf(key, item, values)
        elif restriction := intended_restriction(key):
            yield key, f"unknown setting {shorten(key)!r} is treated as {restriction!r}"
            yield from _read_restriction(restriction, item, values, is_sure=False)
        else:
            yield key, _unknown(shorten(key))


def _read_leaf(key: str, value: object, values: _Values) -> _Faults:
    """Check the value of one setting and add it to `values`; yield the faults."""
    annotation = _leaves()[key]
    if value is None and type(None) not in get_args(annotation):
        return  # null is how some editors say "not set"
    if key in RESTRICTIONS:
        yield from _read_restriction(key, value, values)
        return
    if get_origin(annotation) is not tuple:
        yield from _read_scalar(key, value, values)
        return
    kind = get_args(annotation)[0]
    if _key_of(kind):
        yield from _read_named(key, kind, value, values)
    elif not isinstance(value, list | tuple) and value != {}:
        what = "strings" if kind is str else "objects"
        yield key, f"setting {key!r} is ignored: expected a list of {what}"
    elif kind is str:
        items = list(value)
        values[key] = good = tuple(filter(is_text, items))
        if len(good) < len(items):
            yield key, f"setting {key!r}: items that are not strings are ignored"
    else:
        items = [(f"{key}[{number}]", item) for number, item in enumerate(value, 1)]
        yield from _read_items(key, kind, items, values)


def _read_restriction(key: str, value: object, values: _Values, *, is_sure: bool = True) -> _Faults:
    """Read the list of a setting that only restricts, also from a value of another form.

    Args:
        key: The dotted key of the setting.
        value: The value as written.
        values: The settings that receive the list.
        is_sure: Whether the list may replace the restrictions of the sources below.
    """
    if value is None:
        return
    read = read_restriction(key, value)
    if not read.is_list:
        shown = shorten(", ".join(map(repr, read.texts)) or "nothing")
        yield key, f"setting {key!r} should be a list of strings; using {shown}"
    yield from ((key, fault) for fault in read.faults)
    other = values.get(key, ())  # from a misspelled key that means this setting
    assert isinstance(other, tuple)
    is_added = not (is_sure and read.is_whole) or isinstance(other, AddedTexts)
    values[key] = (AddedTexts if is_added else tuple)((*read.texts, *other))


def _read_named(key: str, kind: type, value: object, values: _Values) -> _Faults:
    """Read an object of named objects; leave out and report each invalid one."""
    if not isinstance(value, Mapping) and value not in ([], ()):
        yield key, f"setting {key!r} is ignored: {_no_object(value)}"
        return
    named = dict(value) if isinstance(value, Mapping) else {}
    items: list[tuple[str, object]] = []
    for name, item in named.items():
        place = f"{key}.{shorten(str(name))}"
        if not _is_name(name):
            yield place, f"setting {place!r} is ignored: its name must be one line"
        elif isinstance(item, Mapping) or item == []:  # some languages send `{}` as an empty list
            items.append((place, {**dict(item), _key_of(kind): name}))
        else:
            items.append((place, item))
    yield from _read_items(key, kind, items, values)


def _read_items(key: str, kind: type, items: list[tuple[str, object]], values: _Values) -> _Faults:
    """Read pairs of a key and an object; leave out and report each invalid object."""
    good = []
    for name, item in items:
        if not isinstance(item, Mapping):
            yield name, f"setting {name!r} is ignored: {_no_object(item)}"
        elif wrong := _item_problem(item, kind):
            yield name, f"setting {name!r} is ignored: {wrong}"
        else:
            given = {_snake(one): tuple(v) if isinstance(v, list) else v for one, v in item.items()}
            good.append(kind(**given))
    values[key] = tuple(good)


def _no_object(value: object) -> str:
    return f"expected an object, not {show_value(value)}"


def _item_problem(item: Mapping[object, object], kind: type) -> str:
    """Return the problem of an object in a setting; empty if there is none."""
    from pydantic import ValidationError

    known = {_camel(field.name): field for field in fields(kind) if "ours" not in field.metadata}
    annotations = get_type_hints(kind, include_extras=True)
    for name, value in item.items():
        if name not in known:
            expected = [one for one in known if one != _key_of(kind)]
            return f"unknown key {show_value(name)}; valid keys: {', '.join(expected)}"
        given = tuple(value) if isinstance(value, list) else value
        try:
            _checker(annotations[known[str(name)].name]).validate_python(given)
        except ValidationError:
            return f"invalid value for {name}"
        if not all(map(is_text, given if isinstance(given, tuple) else (str(given),))):
            return f"{name} can't be encoded as UTF-8"
    missing = [
        name
        for name, one in known.items()
        if one.default is MISSING and one.default_factory is MISSING and name not in item
    ]
    return f"missing {' and '.join(missing)}" if missing else ""


def _read_scalar(key: str, value: object, values: _Values) -> _Faults:
    """Check a value that is no list and add it to `values`; clamp numbers that are out of range."""
    from pydantic import ValidationError

    checker = _checker(_leaves()[key])
    try:
        values[key] = checker.validate_python(value)
    except ValidationError as error:
        context = error.errors(include_url=False)[0].get("ctx", {})
        bound = context.get("ge", context.get("le"))  # the bound that a number violated
        if (narrow := narrow_value(key, value)) is not None:
            values[key] = narrow
            read = f"using {show_value(narrow)} for {show_value(value)}"
            yield key, f"setting {key!r} should be true or false; {read}"
        elif bound is None or value != value:  # noqa: PLR0124 - NaN is no number to clamp
            yield key, f"setting {key!r} is ignored: {_expected(key, value)}"
        else:
            values[key] = checker.validate_python(bound)
            yield key, f"setting {key!r} is out of range: using {bound} for {show_value(value)}"
    if key.endswith(".baseUrl") and (why := url_problem(str(values.get(key, "")))):
        yield key, f"setting {key!r} is invalid: {why}"  # no other endpoint replaces it


def _expected(key: str, value: object) -> str:
    """Return a description of the valid values, with the nearest valid value."""
    annotation = _leaves()[key]
    choices = [str(choice) for choice in get_args(annotation)]
    if get_origin(annotation) is Literal:
        near = difflib.get_close_matches(shorten(str(value)), choices, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{show_value(value)} is not one of {', '.join(choices)}{hint}"
    named = {
        "bool": "true or false",
        "int": "a whole number",
        "float": "a number",
        "str": ("a string"),
    }
    expected = next(words for name, words in named.items() if name in str(annotation))
    return f"expected {expected}, not {show_value(value)}"


def _unknown(key: str) -> str:
    """Return a sentence for a key that is not a setting, with the nearest key that is a setting."""
    keys = [*_leaves(), *(section.rstrip(".") for section in _sections() if section)]
    near = difflib.get_close_matches(key, keys, 1)
    if not near:  # the last part may be right, in the wrong section
        last = key.rpartition(".")[2]
        near = [known for known in keys if known.rpartition(".")[2] == last]
    hint = f": did you mean {near[0]!r}?" if near else ""
    return f"unknown setting {key!r} is ignored{hint}"


def _key_of(kind: type) -> str:
    """Return the field that receives the key of a nested object; empty if there is none."""
    items = fields(kind) if is_dataclass(kind) else ()
    return next((item.name for item in items if "key" in item.metadata), "")


def _is_name(value: object) -> bool:
    """Return whether `value` is one line of printable, not blank text."""
    return is_text(value) and bool(str(value).strip()) and str(value).isprintable()


@functools.cache
def _checker(annotation: Any) -> "TypeAdapter[object]":
    """Return the strict validator of an annotation: strings and numbers are not converted."""
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(annotation, config=ConfigDict(strict=True, allow_inf_nan=False))


@functools.cache
def _leaves() -> dict[str, Any]:
    """Return the annotation of every setting, by dotted key."""
    return dict(_walk(Settings, ""))


@functools.cache
def _sections() -> frozenset[str]:
    """Return the prefixes of all keys, each with its last dot, and the empty prefix."""
    found = {""}
    for key in _leaves():
        parts = key.split(".")
        found |= {".".join(parts[:count]) + "." for count in range(1, len(parts))}
    return frozenset(found)


def _walk(section: type, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, annotation in get_type_hints(section, include_extras=True).items():
        key = f"{prefix}{_camel(name)}"
        if isinstance(annotation, type) and is_dataclass(annotation):
            yield from _walk(annotation, f"{key}.")
        else:
            yield key, annotation


def _build(section: type[T], values: Mapping[str, object], prefix: str) -> T:
    arguments: dict[str, object] = {}
    for item in fields(section):  # type: ignore[arg-type]  # every section is a dataclass
        key = f"{prefix}{_camel(item.name)}"
        if isinstance(item.type, type) and is_dataclass(item.type):
            arguments[item.name] = _build(item.type, values, f"{key}.")
        elif key in values:
            arguments[item.name] = values[key]
    return section(**arguments)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
