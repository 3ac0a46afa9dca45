"""Python source as far as it states things: names, defaults, and calls of functions of the same file; never run."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from foreshock.lint._syntax import Function, assigned, name_of, parsed, returned

_DEPTH = 20  # names that stand for names, and functions that call functions
_NESTED = 10  # arguments of arguments
_STEPS = 1_000  # of both together: a few lines can refer to each other without end
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class Scope(NamedTuple):
    """Names that are seen at one place.

    Attributes:
        names: What each stands for; None where that is not known.
        outer: The place around it.
    """

    names: dict[str, Value | None]
    outer: Scope | None = None

    def holding(self, name: str) -> Scope | None:
        """The place that defines a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope


class Value(NamedTuple):
    """An expression with the names that it may use."""

    node: ast.expr
    scope: Scope


class Place(NamedTuple):
    """A function that was entered with certain arguments."""

    function: Function
    scope: Scope


class Source:
    """One file.

    Attributes:
        functions: Functions of the file by name; none that is defined twice.
        scope: Names of the file itself.
    """

    def __init__(self, text: str, path: Path, *, expected: str) -> None:
        """Parse a file.

        Raises:
            BrokenFileError: It is not Python.
        """
        self._tree = parsed(text, path, expected=expected)
        defined = [node for node in self._tree.body if isinstance(node, Function)]
        times = Counter(node.name for node in defined)
        self.functions = {node.name: node for node in defined if times[node.name] == 1}
        self.scope = Scope({})
        self.scope.names.update(_valued(assigned(self._tree.body, deep=False), self.scope))
        self._inner: dict[int, dict[str, ast.expr | None]] = {}
        self._nested, self._left = 0, _STEPS

    @cached_property
    def all_functions(self) -> list[Function]:
        """Every function of the file, also those inside others."""
        return [node for node in ast.walk(self._tree) if isinstance(node, Function)]

    def entered(self, function: Function, call: Value | None = None) -> Place:
        """A function as a call enters it; without one, as it is without arguments."""
        given = {} if call is None else self._given(function, call)
        scope = Scope({}, self.scope)
        inner = _valued(self._inside(function), scope)
        usual = self._defaults(function) | given
        for name, value in usual.items():
            anew = name in inner and not (name not in given and _is_none(value))
            scope.names[name] = None if anew else inner.get(name, value)
        scope.names.update({name: value for name, value in inner.items() if name not in usual})
        return Place(function, scope)

    def resolve(self, value: Value | None) -> Value | None:
        """What a name, a choice between known things, or a call of a plain function of the file stands for.

        What cannot be told stays as it is; None is a name that is given several values.
        """
        if self._nested == 0:
            self._left = _STEPS
        self._nested += 1
        try:
            return self._followed(value) if self._nested <= _NESTED else None
        finally:
            self._nested -= 1

    def _followed(self, value: Value | None) -> Value | None:
        for _ in range(_DEPTH):
            self._left -= 1
            if value is None or self._left < 0:
                return None
            if isinstance(value.node, ast.Name):
                holder = value.scope.holding(value.node.id)
                if holder is None:
                    return value
                value = holder.names[value.node.id]
            elif isinstance(value.node, ast.IfExp):
                truth = self._truth(Value(value.node.test, value.scope))
                if truth is None:
                    return value
                value = Value(value.node.body if truth else value.node.orelse, value.scope)
            elif (function := self.called(value)) is not None and (told := returned(function)) is not None:
                value = Value(told, self.entered(function, value).scope)
            else:
                return value
        return None

    def called(self, value: Value) -> Function | None:
        """The function of the file that a call calls by its name."""
        node = value.node
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            return None
        return None if value.scope.holding(node.func.id) else self.functions.get(node.func.id)

    def keyword(self, call: Value | None, name: str, *, first: bool = False) -> Value | None:
        """An argument of a call by its name, resolved; with ``first``, the one in the first place counts as well."""
        if call is None or not isinstance(call.node, ast.Call):
            return None
        if first and call.node.args:
            return self.resolve(Value(call.node.args[0], call.scope))
        return self.resolve(self._keywords(call)[0].get(name))

    def lacks(self, call: Value, name: str) -> bool:
        """Whether a call surely does not give an argument of that name."""
        named, whole = self._keywords(call)
        return whole and name not in named

    def _inside(self, function: Function) -> dict[str, ast.expr | None]:
        if id(function) not in self._inner:
            self._inner[id(function)] = assigned(function.body, deep=True)
        return self._inner[id(function)]

    def _defaults(self, function: Function) -> dict[str, Value | None]:
        args = function.args
        places = [a.arg for a in (*args.posonlyargs, *args.args)]
        found: dict[str, Value | None] = dict.fromkeys(places)
        for name, told in zip(reversed(places), reversed(args.defaults), strict=False):
            found[name] = Value(told, self.scope)
        for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            found[one.arg] = None if default is None else Value(default, self.scope)
        if args.vararg:
            found[args.vararg.arg] = Value(ast.Tuple([], ast.Load()), self.scope)
        if args.kwarg:
            found[args.kwarg.arg] = _packed({})
        return found

    def _given(self, function: Function, call: Value) -> dict[str, Value | None]:
        """Arguments of a call by the names of the function; None where one may be given that is not known."""
        assert isinstance(call.node, ast.Call)
        args = function.args
        places = [a.arg for a in (*args.posonlyargs, *args.args)]
        named, whole = self._keywords(call)
        known = {*places, *(a.arg for a in args.kwonlyargs)}
        found: dict[str, Value | None] = {} if whole else dict.fromkeys(known)
        starred = [k for k, told in enumerate(call.node.args) if isinstance(told, ast.Starred)]
        sure = call.node.args[: starred[0]] if starred else call.node.args
        found |= {name: Value(told, call.scope) for name, told in zip(places, sure, strict=False)}
        if starred:
            found |= dict.fromkeys(places[len(sure) :])
        found |= {name: value for name, value in named.items() if name in known}
        if args.vararg and (starred or len(sure) > len(places)):
            rest = None if starred else Value(ast.Tuple(list(sure[len(places) :]), ast.Load()), call.scope)
            found[args.vararg.arg] = rest
        if args.kwarg:
            more = {name: value for name, value in named.items() if name not in known}
            found[args.kwarg.arg] = _packed(more) if whole else None
        return found

    def _keywords(self, call: Value) -> tuple[dict[str, Value | None], bool]:
        """Arguments by name, and whether these are all: what ``**`` brings may not be known."""
        assert isinstance(call.node, ast.Call)
        found: dict[str, Value | None] = {}
        whole = True
        for keyword in call.node.keywords:
            if keyword.arg is not None:
                found[keyword.arg] = Value(keyword.value, call.scope)
                continue
            told = self.resolve(Value(keyword.value, call.scope))
            pairs = _pairs(told)
            whole = whole and pairs is not None
            found = (pairs or {}) | found
        return found, whole

    def _truth(self, value: Value) -> bool | None:
        """Whether a condition on known constants holds."""
        node, turned = value.node, False
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node, turned = node.operand, not turned
        if isinstance(node, ast.Compare):
            truth = self._compared(node, value.scope)
        else:
            told = self.resolve(Value(node, value.scope)) if isinstance(node, ast.Name | ast.Constant) else None
            truth = bool(told.node.value) if told and isinstance(told.node, ast.Constant) else None
        return None if truth is None else truth != turned

    def _compared(self, node: ast.Compare, scope: Scope) -> bool | None:
        sides = [self.resolve(Value(side, scope)) for side in (node.left, *node.comparators[:1])]
        known = [side.node.value for side in sides if side and isinstance(side.node, ast.Constant)]
        compare = _COMPARED.get(type(node.ops[0]))
        if compare is None or len(known) < 2 or len(node.ops) > 1:
            return None
        try:
            return bool(compare(*known))
        except TypeError:
            return None


def _valued(names: Mapping[str, ast.expr | None], scope: Scope) -> dict[str, Value | None]:
    return {name: None if node is None else Value(node, scope) for name, node in names.items()}


def _packed(values: dict[str, Value | None]) -> Value:
    """Arguments as the dictionary that ``**`` takes them into."""
    keys: list[ast.expr | None] = [ast.Constant(name) for name in values]
    return Value(ast.Dict(keys, [ast.Name(name, ast.Load()) for name in values]), Scope(values))


def _pairs(value: Value | None) -> dict[str, Value | None] | None:
    """Keys and values of a dictionary that is written out; None for any other."""
    if value is None:
        return None
    node = value.node
    if isinstance(node, ast.Call) and name_of(node.func) == "dict" and not node.args:
        keys: list[object] = [keyword.arg for keyword in node.keywords]
        nodes = [keyword.value for keyword in node.keywords]
    elif isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        nodes = node.values
    else:
        return None
    found: dict[str, Value | None] = {}
    for key, told in zip(keys, nodes, strict=True):
        if not isinstance(key, str):
            return None
        found[key] = Value(told, value.scope)
    return found


def _is_none(value: Value | None) -> bool:
    return value is not None and isinstance(value.node, ast.Constant) and value.node.value is None
