"""What a metric declares about itself, and the decorator with which it does."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from foreshock._base import MetricError, digest
from foreshock.metrics._response import FIELDS, Response, as_response

Kind = Literal["hard", "continuous"]
Link = Literal["identity", "all-of-N", "any-of-T", "argmax", "threshold"]
Grain = Literal["response", "position", "item"]
Value = float | Sequence[float] | Mapping[str, float] | None
Function = Callable[[Any], Value]
Columns = Mapping[str, Sequence[Any]]
Parameters = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class MetricSpec:
    """One metric with its parameters: everything about it but the code, which is looked up when it is needed.

    Two specs are equal when their names, versions and parameters are. A spec pickles as its name and parameters and is
    rebuilt through the registry, so it can be sent to another process.

    Attributes:
        name: Name of the factory.
        version: Raised whenever the same input may give another value.
        params: All parameters, defaults included, sorted by name.
        id: ``name@version+hash``; the hash is of the parameters.
        kind: ``hard`` (nonlinear or discontinuous in what lies beneath) or ``continuous``.
        link: How the value hangs on what lies beneath it.
        grain: What one value belongs to: a response, a position of it, or an item over its epochs.
        needs: Alternatives, each a tuple of columns that must all be there.
        unless: Columns whose presence means that the metric does not apply (``choices``).
        uses: Columns that it also looks at where they are there.
        low, high: Range of the value; None is unbounded.
        higher_is_better: Direction.
        twins: Metrics to read this one against, first choice first, as :func:`get_metric` takes them.
        names: Names of the values when one response has several; the first is the headline.
    """

    name: str
    version: int
    params: Parameters
    id: str
    kind: Kind = field(compare=False)
    link: Link = field(compare=False)
    grain: Grain = field(compare=False)
    needs: tuple[tuple[str, ...], ...] = field(compare=False)
    unless: tuple[str, ...] = field(compare=False)
    uses: tuple[str, ...] = field(compare=False)
    low: float | None = field(compare=False)
    high: float | None = field(compare=False)
    higher_is_better: bool = field(compare=False)
    twins: tuple[str, ...] = field(compare=False)
    names: tuple[str, ...] = field(compare=False)
    factory: Factory = field(compare=False, repr=False)

    @property
    def ids(self) -> tuple[str, ...]:
        """Identities under which values are stored: ``id``, then ``id/name`` for each further named value."""
        return (self.id, *(f"{self.id}/{name}" for name in self.names[1:]))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Columns that the metric sees: those of ``needs`` and ``uses``, without repetition."""
        return tuple(dict.fromkeys((*(name for alternative in self.needs for name in alternative), *self.uses)))

    def chance(self, choices: int | None = None) -> float | None:
        """Expected value of guessing among ``choices`` options; None when it has none or ``choices`` is unknown."""
        rule = self.factory.declared["chance"]
        if not callable(rule):
            return None if rule is None else float(rule)
        return None if not choices else float(rule(choices, **dict(self.params)))

    @functools.cached_property
    def function(self) -> Function:
        """The function of one response (or of the list of an item's responses)."""
        return self.factory.make(**dict(self.params))

    def batch(self, columns: Columns) -> Any:
        """Apply the batch form to columns whose needs are all there."""
        assert self.factory.batch_form is not None
        return self.factory.batch_form(columns, **dict(self.params))

    @property
    def has_batch(self) -> bool:
        """Whether the metric has a form over whole columns."""
        return self.factory.batch_form is not None

    def __call__(self, row: Response | Mapping[str, Any]) -> Value:
        """Value of one response: a :class:`Response` or a mapping with its fields."""
        return self.function(as_response(row))

    def __str__(self) -> str:
        """Name and the parameters that differ from the defaults; :func:`get_metric` takes it back."""
        defaults = self.factory.defaults()
        told = [f"{k}={_text(v)}" for k, v in self.params if k not in defaults or defaults[k] != v]
        return f"{self.name}({', '.join(told)})" if told else self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (self.factory.origin, self.name, self.params)


class Factory:
    """A metric before its parameters are chosen; calling it gives a :class:`MetricSpec`."""

    def __init__(self, make: Callable[..., Function], declared: dict[str, Any]) -> None:
        self.make, self.declared = make, declared
        self.name = declared["name"] or make.__name__
        self.origin = f"{make.__module__}:{make.__qualname__}"
        self.batch_form: Callable[..., Any] | None = None
        self.signature = inspect.signature(make)
        functools.update_wrapper(self, make)

    def batch(self, form: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a form over columns: ``form(columns, **parameters)`` gives one value per row, as ``make`` would."""
        self.batch_form = form
        return form

    def defaults(self) -> dict[str, Any]:
        """Parameters that have a default."""
        given = self.signature.parameters.values()
        return {p.name: _plain(p.default, self.name) for p in given if p.default is not inspect.Parameter.empty}

    def __call__(self, **params: Any) -> MetricSpec:
        """The metric with these parameters.

        Raises:
            MetricError: A parameter is unknown, missing, or not plain data.
        """
        try:
            bound = self.signature.bind(**params)
        except TypeError as error:
            raise MetricError(
                f"{error}", expected=f"{self.name}{self.signature}", do="correct the parameters", where=self.name
            ) from None
        bound.apply_defaults()
        full = {k: _plain(v, self.name) for k, v in sorted(bound.arguments.items())}
        self.make(**full)  # a factory refuses bad values itself; better now than for every row
        say = functools.partial(self._declared, full)
        low, high = say("range")
        return MetricSpec(
            name=self.name,
            version=self.declared["version"],
            params=tuple(full.items()),
            id=f"{self.name}@{self.declared['version']}+{digest(full, 8)}",
            kind=say("kind"),
            link=say("link"),
            grain=self.declared["grain"],
            needs=_alternatives(say("needs"), self.name),
            unless=_columns(say("unless"), self.name),
            uses=_columns(self.declared["uses"], self.name),
            low=low,
            high=high,
            higher_is_better=say("higher_is_better"),
            twins=tuple(say("twins")),
            names=self.declared["names"],
            factory=self,
        )

    def _declared(self, params: dict[str, Any], key: str) -> Any:
        value = self.declared[key]
        return value(**params) if callable(value) else value


def metric(  # noqa: PLR0913 - a declaration is a list of facts
    *,
    kind: Kind | Callable[..., Kind],
    needs: Any,
    range: tuple[float | None, float | None] | Callable[..., tuple[float | None, float | None]] = (None, None),  # noqa: A002
    link: Link | Callable[..., Link] = "identity",
    grain: Grain = "response",
    higher_is_better: bool = True,
    chance: float | Callable[..., float] | None = None,
    twins: Sequence[str] = (),
    unless: Any = (),
    uses: Sequence[str] = (),
    names: Sequence[str] = (),
    version: int = 1,
    name: str | None = None,
) -> Callable[[Callable[..., Function]], Factory]:
    """Decorate a factory: a function of keyword parameters that returns a function of one :class:`Response`.

    That function returns a float; or None when an answer was delivered but cannot be read (``unparsed``); a mapping
    with the declared ``names``; for grain ``position`` a list of floats; it raises :class:`Inapplicable` when the
    metric makes no sense for this item. With grain ``item`` it gets the list of an item's responses. It must depend on
    nothing but the columns it declares: when a store is scored, all other fields are None, and equal rows may share one
    call.

    Args:
        kind: ``hard`` or ``continuous``.
        needs: Columns that must be there, or several alternatives of columns: ``("answer", "targets")`` or
            ``(("gold_logprob",), ("gold_token_logprobs",))``.
        range: Smallest and largest value; None is unbounded.
        link: How the value hangs on what lies beneath.
        grain: ``response``, ``position`` or ``item``.
        higher_is_better: Direction.
        chance: Value of guessing, or a function of the number of choices (and the parameters) that gives it.
        twins: Continuous metrics to read a hard one against, in fixed order.
        unless: Columns whose presence makes the metric inapplicable.
        uses: Columns that it also looks at where they are there.
        names: Names of the values when the function returns several; the first is the headline.
        version: Raise it when the same input may give another value.
        name: Name; the function's own by default.

    ``kind``, ``needs``, ``range``, ``link`` and ``unless`` may be functions of the parameters.

    Examples:
        >>> @metric(kind="continuous", needs=("output",), range=(0, None), higher_is_better=False, name="doc_length")
        ... def length(*, per: int = 1):
        ...     def score(response):
        ...         return len(response.output) / per
        ...
        ...     return score
        >>> length(per=2)({"output": "four"})
        2.0
        >>> str(length(per=2)), length().low
        ('doc_length(per=2)', 0)
    """
    declared = {
        "kind": kind,
        "needs": needs,
        "range": range,
        "link": link,
        "grain": grain,
        "higher_is_better": higher_is_better,
        "chance": chance,
        "twins": twins,
        "unless": unless,
        "uses": tuple(uses),
        "names": tuple(names),
        "version": version,
        "name": name,
    }
    for key, allowed in (("kind", get_args(Kind)), ("link", get_args(Link)), ("grain", get_args(Grain))):
        if not callable(declared[key]) and declared[key] not in allowed:
            raise MetricError(f"{key} {declared[key]!r} is unknown", expected=f"one of {', '.join(allowed)}")
    if not callable(needs):
        _alternatives(needs, name or "metric")
    if not callable(unless):
        _columns(unless, name or "metric")
    _columns(uses, name or "metric")

    def decorate(make: Callable[..., Function]) -> Factory:
        from foreshock.metrics._registry import register

        factory = Factory(make, declared)
        register(factory)
        return factory

    return decorate


class Inapplicable(Exception):  # noqa: N818 - it says something about an item, it is not an error
    """Raised by a metric, or put by its batch form in place of a value: the metric makes no sense for this item."""


def rebuild(origin: str, name: str, params: Parameters) -> MetricSpec:
    """Make a spec again in another process."""
    from foreshock.metrics._registry import find

    return find(name, origin)(**dict(params))


def _plain(value: Any, name: str) -> Any:
    """Parameters are plain data, so that they have a hash and pickle; a top-level function becomes its address."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(_plain(v, name) for v in value)
    where = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '<')}"
    if callable(value) and "<" not in where:
        return where
    raise MetricError(
        f"a parameter is {value!r:.80}",
        expected="text, a number, a list of these, or a function defined at the top of a module",
        do="define the function in a module that can be imported",
        where=name,
    )


def _alternatives(needs: Any, name: str) -> tuple[tuple[str, ...], ...]:
    if isinstance(needs, str) or all(isinstance(need, str) for need in needs):
        needs = (needs,)
    return tuple(_columns(alternative, name) for alternative in needs)


def _columns(names: Any, metric_name: str) -> tuple[str, ...]:
    unknown = [n for n in names if n not in FIELDS]
    if isinstance(names, str) or unknown:
        raise MetricError(
            f"needs {names!r}, which is not a column of a response",
            expected=f"a tuple of names among {', '.join(FIELDS)}",
            where=metric_name,
        )
    return tuple(names)


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
