"""What a metric declares about itself, and the decorator with which it does."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from foreshock._base import MetricError, digest
from foreshock.metrics._declared import alternatives, check_grain, columns, deliveries_of, plain, text
from foreshock.metrics._quantity import PER_ROW, Quantity
from foreshock.metrics._response import Response, as_response
from foreshock.metrics._statistics import summed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["hard", "continuous"]
Link = Literal["identity", "all-of-N", "any-of-T", "argmax", "threshold"]
Grain = Literal["response", "position", "item", "run"]

Value = float | Quantity | Sequence[float] | Mapping[str, float] | None
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
        grain: What one value belongs to: a response, a position of it, an item over its epochs, or a whole run.
        needs: Alternatives, each a tuple of columns that must all be there.
        unless: Columns whose presence means that the metric does not apply (``choices``).
        uses: Columns that it also looks at where they are there.
        low, high: Range of the value; None is unbounded.
        higher_is_better: Direction; None when neither is better (a number of tool calls).
        twins: Metrics to read this one against, first choice first, as :func:`get_metric` takes them.
        names: Names of the values when one response has several; the first is the headline.
        deliveries: Deliveries on which it applies.
        unit: Unit of the value (``bits``, ``calls``, ``steps``); None has no dimension; :data:`PER_ROW` means that each
            row states its own, which is the label of the score. See :meth:`unit_of`.
        statistics: Names of what the function gives for each row when the grain is ``run``; empty otherwise.
        additive: Whether the value of a run hangs on the sums of its statistics alone.
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
    higher_is_better: bool | None = field(compare=False)
    twins: tuple[str, ...] = field(compare=False)
    names: tuple[str, ...] = field(compare=False)
    deliveries: tuple[str, ...] = field(compare=False)
    unit: str | None = field(compare=False)
    statistics: tuple[str, ...] = field(compare=False)
    additive: bool = field(compare=False)
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
        found = rule(choices, **dict(self.params)) if choices else None
        return None if found is None else float(found)

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

    def result(self, stats: NDArray[np.float64]) -> float | dict[str, float]:
        """Value of a set of rows from their statistics (grain ``run``).

        Args:
            stats: Shape (n, k), n >= 1, one row per response and one column per name in ``statistics``. When the
                metric is ``additive``, rows may have been added up before.

        Returns:
            The value, or one per name in ``names``; NaN where it is not defined for these rows.

        Raises:
            MetricError: The grain is another one, or the shape is wrong.
        """
        if self.grain != "run":
            raise MetricError(f"{self} has grain {self.grain}", expected="a metric of grain run", where=self.name)
        if stats.ndim != 2 or stats.shape[1] != len(self.statistics) or not len(stats):
            raise MetricError(
                f"statistics of shape {stats.shape}",
                expected=f"one row per response, and columns {', '.join(self.statistics)}",
                where=self.name,
            )
        form = self.factory.result_form
        assert form is not None
        found = form(summed(stats) if self.additive else stats, **dict(self.params))
        return {name: float(found[name]) for name in self.names} if self.names else float(found)

    def unit_of(self, label: str | None) -> str | None:
        """Unit of a score with this label; values whose units differ are never compared, added or averaged."""
        return label if self.unit == PER_ROW else self.unit

    def __call__(self, row: Response | Mapping[str, Any]) -> Value:
        """Value of one response: a :class:`Response` or a mapping with its fields; for grain ``run`` its statistics."""
        return self.function(as_response(row))

    def __str__(self) -> str:
        """Name and the parameters that differ from the defaults; :func:`get_metric` takes it back."""
        defaults = self.factory.defaults()
        told = [f"{k}={text(v)}" for k, v in self.params if k not in defaults or defaults[k] != v]
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
        self.result_form: Callable[..., Any] | None = None
        self.alone_form: Callable[..., Any] | None = None
        self.signature = inspect.signature(make)
        functools.update_wrapper(self, make)

    def batch(self, form: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a form over columns: ``form(columns, **parameters)`` gives one value per row, as ``make`` would."""
        self.batch_form = form
        return form

    def result(self, form: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate what makes the value of a run: ``form(stats, **parameters)`` with stats of shape (n, k).

        For an ``additive`` metric it is given the sums, shape (1, k).
        """
        self.result_form = form
        return form

    def alone(self, form: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a fast form of ``result`` for rows that each are a run of their own.

        ``form(stats, **parameters)`` with stats of shape (n, k) gives n values, exactly those that ``result`` gives for
        each row. Only for metrics with one value.
        """
        self.alone_form = form
        return form

    def defaults(self) -> dict[str, Any]:
        """Parameters that have a default."""
        given = self.signature.parameters.values()
        return {p.name: plain(p.default, self.name) for p in given if p.default is not inspect.Parameter.empty}

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
        full = {k: plain(v, self.name) for k, v in sorted(bound.arguments.items())}
        self.make(**full)  # a factory refuses bad values itself; better now than for every row
        if self.declared["grain"] == "run" and self.result_form is None:
            raise MetricError(
                f"{self.name} has grain run and nothing that makes a value of its statistics",
                do=f"decorate a function of them with @{self.name}.result",
                where=self.origin,
            )
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
            needs=alternatives(say("needs"), self.name),
            unless=columns(say("unless"), self.name),
            uses=columns(self.declared["uses"], self.name),
            low=low,
            high=high,
            higher_is_better=say("higher_is_better"),
            twins=tuple(say("twins")),
            names=self.declared["names"],
            deliveries=self.declared["deliveries"],
            unit=say("unit"),
            statistics=tuple(say("statistics")),
            additive=self.declared["additive"],
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
    higher_is_better: bool | None = True,
    chance: float | Callable[..., float | None] | None = None,
    twins: Sequence[str] | Callable[..., Sequence[str]] = (),
    unless: Any = (),
    uses: Sequence[str] = (),
    names: Sequence[str] = (),
    deliveries: Sequence[str] | None = None,
    unit: str | Callable[..., str | None] | None = None,
    statistics: Sequence[str] | Callable[..., Sequence[str]] = (),
    additive: bool = False,
    version: int = 1,
    name: str | None = None,
) -> Callable[[Callable[..., Function]], Factory]:
    """Decorate a factory: a function of keyword parameters that returns a function of one :class:`Response`.

    That function returns a float; or None when an answer was delivered but cannot be read (``unparsed``); a mapping
    with the declared ``names``; for grain ``position`` a list of floats; it raises :class:`Inapplicable` when the
    metric makes no sense for this item. With grain ``item`` it gets the list of an item's responses; with grain ``run``
    it returns the row's ``statistics``, finite floats from which ``@NAME.result`` makes the value of any set of rows.
    It must depend on nothing but the columns it declares: when a store is scored, all other fields are None, and equal
    rows may share one call.

    Args:
        kind: ``hard`` or ``continuous``.
        needs: Columns that must be there, or several alternatives of columns: ``("answer", "targets")`` or
            ``(("gold_logprob",), ("gold_token_logprobs",))``.
        range: Smallest and largest value; None is unbounded.
        link: How the value hangs on what lies beneath.
        grain: ``response``, ``position``, ``item`` or ``run``.
        higher_is_better: Direction; None when neither is better.
        chance: Value of guessing, or a function of the number of choices (and the parameters) that gives it.
        twins: Continuous metrics to read a hard one against, in fixed order.
        unless: Columns whose presence makes the metric inapplicable.
        uses: Columns that it also looks at where they are there.
        names: Names of the values when the function (or, with grain ``run``, the result) gives several; the first is
            the headline.
        deliveries: Deliveries on which the metric applies; None means those that arrived. A response whose delivery is
            not known counts as arrived.
        unit: Unit of the value; None when it has no dimension. :data:`PER_ROW`: the function returns a
            :class:`Quantity`.
        statistics: Names of a row's statistics, for grain ``run``.
        additive: Whether the result hangs on the sums of the statistics alone.
        version: Raise it when the same input may give another value.
        name: Name; the function's own by default.

    ``kind``, ``needs``, ``range``, ``link``, ``unless``, ``twins``, ``unit`` and ``statistics`` may be functions of the
    parameters.

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
        "deliveries": deliveries_of(deliveries, name or "metric"),
        "unit": unit,
        "statistics": statistics,
        "additive": additive,
        "version": version,
        "name": name,
    }
    for key, allowed in (("kind", get_args(Kind)), ("link", get_args(Link)), ("grain", get_args(Grain))):
        if not callable(declared[key]) and declared[key] not in allowed:
            raise MetricError(f"{key} {declared[key]!r} is unknown", expected=f"one of {', '.join(allowed)}")
    if not callable(needs):
        alternatives(needs, name or "metric")
    if not callable(unless):
        columns(unless, name or "metric")
    columns(uses, name or "metric")
    check_grain(declared, name or "metric")

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
