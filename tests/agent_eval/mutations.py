"""Small faults for right functions: a mutation changes one place of a function's source.

An operator lists the places where it applies, in the order of the source, with the text that it
writes there. `mutate` takes the operator's name and the number of the place, so that a stored
mutation quotes nothing of the function.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault of a function.

    Attributes:
        operator: A key of `OPERATORS`.
        place: The number of the operator's place in the function, from 0.
    """

    operator: str
    place: int


@dataclass(frozen=True, slots=True, order=True)
class _Splice:
    """A stretch of the source in bytes of UTF-8, and its new text."""

    start: int
    end: int
    new: str


class _Source:
    """A function in the text of its module."""

    def __init__(self, text: str, function: str) -> None:
        self.text = text.encode()
        self._line_starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self.function = _find_function(ast.parse(text), function)

    def offsets(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._line_starts[node.lineno - 1] + node.col_offset,
            self._line_starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def quote(self, node: ast.expr | ast.stmt) -> str:
        """Return a node as it is written."""
        start, end = self.offsets(node)
        return self.text[start:end].decode()

    def replaced(self, node: ast.expr | ast.stmt, new: str) -> _Splice:
        """Return the splice that writes `new` in the place of a node."""
        return _Splice(*self.offsets(node), new)

    def between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[_Splice]:
        """Yield the splice that replaces an operator between two nodes."""
        _, begin = self.offsets(left)
        end, _ = self.offsets(right)
        at = self.text.find(old.encode(), begin, end)
        if at >= 0:
            yield _Splice(at, at + len(old.encode()), new)


def mutate(text: str, function: str, mutation: Mutation) -> str:
    """Return the text of a module with one fault in a function.

    Raises:
        LookupError: If the module has no such function, or the operator no such place in it.
    """
    source = _Source(text, function)
    splices = sorted(set(OPERATORS[mutation.operator](source)))
    splice = splices[mutation.place]
    whole = source.text[: splice.start] + splice.new.encode() + source.text[splice.end :]
    return whole.decode()


def mutations(text: str, function: str) -> list[Mutation]:
    """Return all mutations of a function."""
    source = _Source(text, function)
    return [
        Mutation(name, place)
        for name, operator in OPERATORS.items()
        for place in range(len(set(operator(source))))
    ]


def _find_function(tree: ast.Module, name: str) -> ast.FunctionDef:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise LookupError(f"the module has no function {name!r}")


def _walk(source: _Source) -> Iterator[ast.AST]:
    """Yield the nodes of the function's body, without its docstring."""
    for statement in source.function.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text:
            yield from ast.walk(statement)


def _comparisons(
    names: Mapping[type[ast.cmpop], tuple[str, str]],
) -> Callable[[_Source], Iterator[_Splice]]:
    def splices(source: _Source) -> Iterator[_Splice]:
        for node in _walk(source):
            if isinstance(node, ast.Compare):
                operands = [node.left, *node.comparators]
                for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
                    if type(operator) in names:
                        yield from source.between(left, right, *names[type(operator)])

    return splices


_WRONG_OPERATORS: Mapping[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "//"),
    ast.FloorDiv: ("//", "%"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
}


def _wrong_operator(source: _Source) -> Iterator[_Splice]:
    for node in _walk(source):
        if isinstance(node, ast.BinOp) and type(node.op) in _WRONG_OPERATORS:
            yield from source.between(node.left, node.right, *_WRONG_OPERATORS[type(node.op)])
        elif isinstance(node, ast.AugAssign) and type(node.op) in _WRONG_OPERATORS:
            old, new = _WRONG_OPERATORS[type(node.op)]
            yield from source.between(node.target, node.value, f"{old}=", f"{new}=")


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _off_by_one(step: int) -> Callable[[_Source], Iterator[_Splice]]:
    """Make an operator that changes a bound of a slice, an index or a range by one."""

    def splices(source: _Source) -> Iterator[_Splice]:
        for node in _walk(source):
            for bound in _bounds(node):
                if isinstance(bound, ast.Constant):
                    yield source.replaced(bound, str(int(str(bound.value)) + step))
                else:
                    sign = "+" if step > 0 else "-"
                    yield source.replaced(bound, f"{source.quote(bound)} {sign} 1")

    return splices


def _bounds(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Slice):
        found = [node.lower, node.upper]
    elif isinstance(node, ast.Subscript) and _is_number(node.slice):
        found = [node.slice]
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
        found = [*node.args[:2]]
    else:
        return []
    return [
        one
        for one in found
        if one is not None and (_is_number(one) or not isinstance(one, ast.Constant))
    ]


def _initial_value(source: _Source) -> Iterator[_Splice]:
    for node in _walk(source):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            value = node.value.value
            if type(value) is bool:
                yield source.replaced(node.value, str(not value))
            elif type(value) is int:
                yield source.replaced(node.value, str(1 if value == 0 else 0))


def _boolean_operator(source: _Source) -> Iterator[_Splice]:
    for node in _walk(source):
        if isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from source.between(left, right, old, new)


def _negation(source: _Source) -> Iterator[_Splice]:
    for node in _walk(source):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield source.replaced(node, source.quote(node.operand))


def _missing_case(source: _Source) -> Iterator[_Splice]:
    """Remove an `if` without `else` that leaves the function or the iteration early."""
    for node in _walk(source):
        if not isinstance(node, ast.If) or node.orelse:
            continue
        if isinstance(node.body[-1], ast.Return | ast.Continue | ast.Break):
            yield source.replaced(node, "pass")


def _swapped_arguments(source: _Source) -> Iterator[_Splice]:
    for node in _walk(source):
        if isinstance(node, ast.Call) and len(node.args) >= 2:
            first, second = node.args[:2]
            start, end = source.offsets(first)[0], source.offsets(second)[1]
            yield _Splice(start, end, f"{source.quote(second)}, {source.quote(first)}")


_STEPS = frozenset({"sorted", "abs", "set", "list", "reversed", "round", "int", "str", "len"})
_METHODS = frozenset({"lower", "upper", "strip", "swapcase"})


def _missing_step(source: _Source) -> Iterator[_Splice]:
    """Replace `f(x)` by `x`, or `x.f()` by `x`."""
    for node in _walk(source):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in _STEPS and node.args:
            yield source.replaced(node, source.quote(node.args[0]))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            yield source.replaced(node, source.quote(node.func.value))


_OPPOSITES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "append": "extend", "lower": "upper",
    "upper": "lower", "startswith": "endswith", "endswith": "startswith", "islower": "isupper",
    "isupper": "islower",
}  # fmt: skip


def _wrong_function(source: _Source) -> Iterator[_Splice]:
    for node in _walk(source):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in _OPPOSITES:
            yield source.replaced(called, _OPPOSITES[called.id])
        elif isinstance(called, ast.Attribute) and called.attr in _OPPOSITES:
            yield source.replaced(called, f"{source.quote(called.value)}.{_OPPOSITES[called.attr]}")


OPERATORS: Mapping[str, Callable[[_Source], Iterator[_Splice]]] = {
    "boundary": _comparisons(
        {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
    ),
    "flipped comparison": _comparisons(
        {
            ast.Lt: ("<", ">"),
            ast.LtE: ("<=", ">="),
            ast.Gt: (">", "<"),
            ast.GtE: (">=", "<="),
            ast.Eq: ("==", "!="),
            ast.NotEq: ("!=", "=="),
            ast.In: ("in", "not in"),
            ast.NotIn: ("not in", "in"),
        }
    ),
    "wrong operator": _wrong_operator,
    "one too many": _off_by_one(1),
    "one too few": _off_by_one(-1),
    "initial value": _initial_value,
    "boolean operator": _boolean_operator,
    "negation": _negation,
    "missing case": _missing_case,
    "swapped arguments": _swapped_arguments,
    "missing step": _missing_step,
    "wrong function": _wrong_function,
}
"""Each operator by its name: the places of a function where it applies, with the new text."""
