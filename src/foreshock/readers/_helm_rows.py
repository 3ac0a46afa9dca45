"""Requests and statistics of a HELM run turned into items, responses and harness scores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, count_of
from foreshock.readers._contain import reported
from foreshock.readers._helm_files import STATE, Parts
from foreshock.readers._helm_item import Answered, Item, generations, item_of, modelled, separate
from foreshock.readers._helm_stats import InstanceStats, Key, Measured, key_of
from foreshock.readers._json import decode
from foreshock.readers._plain import Json, Problems, mapping, meta, number, objects, whole, words
from foreshock.readers._rows import Rows, item_name
from foreshock.records import Batch, Delivery, ScoreStatus

TABLES = {
    "items": ("item_key", "item_id", "input", "choices", "targets", "gold_index", "subset"),
    "responses": (
        *("row", "item_key", "item_id", "epoch", "sample", "perturbation", "prompt_hash", "delivery", "output"),
        *("reasoning", "answer", "choice_logprobs", "gold_logprob", "gold_token_logprobs", "output_token_logprobs"),
        *("input_tokens", "output_tokens", "token_unit", "seconds", "meta"),
    ),
    "scores": ("row", "metric_id", "source", "value", "status"),
}
_ANY = msgspec.json.Decoder(Any)
_NOTHING = Measured({}, {})


class _Place(NamedTuple):
    """What tells a response from the others of its run."""

    name: str
    key: Key
    sample: int
    prompt: str | None


class HelmRows:
    """Builds the batches of one run.

    Args:
        parts: Its files.
        problems: Takes requests that cannot be read.

    Attributes:
        latest: Time of the last request, in seconds since 1970.
    """

    def __init__(self, parts: Parts, stats: InstanceStats, problems: Problems) -> None:
        self._parts, self._stats, self._problems = parts, stats, problems
        self._method = str(parts.adapter.get("method") or "")
        self._unit = words(parts.adapter.get("model_deployment")) or words(parts.adapter.get("model"))
        self._rows = Rows(TABLES)
        self._item, self._response, self._score = map(self._rows.appender, TABLES)
        self._items: set[tuple[str, str | None]] = set()
        self._scored: set[Key] = set()
        self._count = self._zero = self._short = self._cut = self._requests = self._unlocated = 0
        self.latest: float | None = None

    def batches(self) -> Iterator[Batch]:
        """Rows of every request, then of what only the statistics know."""
        for places in self._groups():
            self._rows.grow(self._contained(partial(self._request, places), places[0]))
            if self._rows.full:
                yield from self._rows.flush()
        absent = Delivery.MISSING if self._parts.states is not None else Delivery.OK
        instances = self._instances() if self._parts.states is None else {}
        for place, key in enumerate([k for k in self._stats.found if k not in self._scored]):
            self._rows.grow(self._contained(partial(self._only_measured, key, absent, instances), place))
            if self._rows.full:
                yield from self._rows.flush()
        yield from self._rows.flush()

    def warnings(self) -> list[str]:
        """What the user should know about the rows given out."""
        shots, found = self._parts.adapter.get("max_train_instances"), []
        if self._short:
            found.append(f"{self._short} of {count_of(self._requests, 'prompt')} hold fewer than {shots} examples")
        if self._cut:
            found.append(f"{self._cut} of {count_of(self._requests, 'prompt')} were cut to fit the model")
        if self._zero:
            found.append(
                f"{count_of(self._zero, 'completion')} log a probability of 1 for every token, as HELM does when the "
                "model gives none: taken for absent; logprob, max_prob, perplexity and bits_per_byte say nothing here"
            )
        if self._unlocated:
            found.append(
                f"{count_of(self._unlocated, 'response')} without log-probabilities of the choices: the tokens of a "
                "reference could not be told from those of the prompt"
            )
        if self._stats.joined:
            found.append(f"statistics of one instance in several entries were joined: {self._stats.joined} times")
        if self._stats.unequal:
            found.append(f"{count_of(self._stats.unequal, 'statistic')} repeated with another value; the first is kept")
        return found

    def _groups(self) -> Iterator[list[int]]:
        """Places of the requests that make up one response each."""
        states = self._parts.states or []
        if not (self._method.startswith("multiple_choice_separate") or self._method == "language_modeling"):
            yield from ([place] for place in range(len(states)))
            return
        groups: dict[Key | int, list[int]] = {}
        for place, raw in enumerate(states):
            try:
                groups.setdefault(_key(mapping(decode(bytes(raw), _ANY, ""))), []).append(place)
            except BrokenFileError:
                groups[place] = [place]  # told when it is read again
        yield from groups.values()

    def _contained(self, add: Callable[[], int], place: int) -> int:
        before = self._count
        try:
            return add()
        except BaseException as error:  # noqa: BLE001 - one bad request is not the others
            self._problems.add(place + 1, reported(error, self._parts.folder / STATE).found)
            self._rows.undo(before)
            self._count = before
            return 0

    def _request(self, places: list[int]) -> int:
        assert self._parts.states is not None
        return self._add([mapping(decode(bytes(self._parts.states[p]), _ANY, "")) for p in places])

    def _add(self, states: list[Json]) -> int:
        state = states[0]
        instance = mapping(state.get("instance"))
        key, item = _key(state), item_of(instance, self._method)
        name = _name(state, key, self._method)
        for one in states:
            self._look(one)
        self._add_item(name, item)
        measured = self._stats.found.get(key, _NOTHING) if key not in self._scored else _NOTHING
        self._scored.add(key)
        size = len(item.question or "")
        for sample, found in enumerate(self._answers(states, item)):
            mine = measured if sample == 0 else _NOTHING
            self._respond(_Place(name, key, sample, _prompt(states)), item, found, mine)
            size += len(found.output or "") + 8 * len(found.output_token_logprobs or found.gold_token_logprobs or "")
        return size

    def _answers(self, states: list[Json], item: Item) -> list[Answered]:
        if self._method.startswith("multiple_choice_separate"):
            found = separate(states, item)
            self._unlocated += found.delivery is Delivery.OK and found.choice_logprobs is None
            return [found]
        if self._method == "language_modeling":
            return [modelled(states)]
        return generations(states[0], item)

    def _look(self, state: Json) -> None:
        """Take note of what is worth a warning."""
        self._requests += 1
        result = mapping(state.get("result"))
        wanted, held = number(self._parts.adapter.get("max_train_instances")), number(state.get("num_train_instances"))
        calibration = state.get("request_mode") == "calibration"
        self._short += wanted is not None and held is not None and held < wanted and not calibration
        self._cut += state.get("prompt_truncated") is True
        when = number(result.get("request_datetime"))
        if when is not None:
            self.latest = max(when, self.latest or when)
        for completion in objects(result.get("completions")):
            tokens = [t.get("logprob") for t in objects(completion.get("tokens"))]
            self._zero += bool(tokens) and all(t == 0 for t in tokens)

    def _add_item(self, name: str, item: Item) -> None:
        if (name, item.key) not in self._items:
            self._items.add((name, item.key))
            self._item((item.key, name, item.question, item.choices, item.targets, item.gold, item.subset))

    def _respond(self, place: _Place, item: Item, found: Answered, measured: Measured) -> None:
        books, tokens = measured.books, found.gold_token_logprobs
        gold = None if tokens is None else sum(tokens)
        if found.choice_logprobs is not None and item.gold is not None:
            gold = found.choice_logprobs[item.gold]
        read, wrote = whole(books.get("num_prompt_tokens")), whole(_first(books, "num_output", "num_completion"))
        delivery = found.delivery
        if delivery is Delivery.OK and books.get("finish_reason_length") == 1 and not (item.choices and found.answer):
            delivery = Delivery.TRUNCATED
        # fmt: off
        self._response((
            self._count, item.key, place.name, place.key.trial + 1, place.sample, place.key.perturbation, place.prompt,
            delivery.value, found.output, found.reasoning, found.answer, found.choice_logprobs, gold, tokens,
            found.output_token_logprobs, read, wrote, self._unit if read is not None or wrote is not None else None,
            found.seconds, meta({**found.meta, "statistics": books}),
        ))
        # fmt: on
        for metric, value in measured.scores.items():
            status = ScoreStatus.NEEDS if value is None else ScoreStatus.SCORED
            self._score((self._count, metric, "harness", value, status.value))
        self._count += 1

    def _instances(self) -> dict[tuple[str, str | None], Json]:
        """Items of a run whose requests are not there."""
        found: dict[tuple[str, str | None], Json] = {}
        for raw in self._parts.instances or []:
            try:
                instance = mapping(decode(bytes(raw), _ANY, ""))
            except BrokenFileError:
                continue  # its response says that nothing is known of the item
            key = key_of(instance.get("id"), instance.get("perturbation"), 0)
            found.setdefault((key.instance, key.perturbation), instance)
        return found

    def _only_measured(self, key: Key, delivery: Delivery, instances: dict[tuple[str, str | None], Json]) -> int:
        measured = self._stats.found[key]
        item = item_of(instances.get((key.instance, key.perturbation), {}), self._method)
        self._add_item(key.instance, item)
        self._respond(_Place(key.instance, key, 0, None), item, Answered(delivery), measured)
        return len(item.question or "")


def _key(state: Json) -> Key:
    instance = mapping(state.get("instance"))
    if instance.get("id") is None:
        raise BrokenFileError("a request without an instance id")
    return key_of(instance["id"], instance.get("perturbation"), state.get("train_trial_index"))


def _name(state: Json, key: Key, method: str) -> str:
    """The item's id; where each reference is a question of its own (ranking), with its number."""
    index = whole(state.get("reference_index"))
    if index is None or method.startswith("multiple_choice_separate"):
        return key.instance
    return item_name(f"{key.instance}, reference {index}")


def _prompt(states: list[Json]) -> str | None:
    asked = [mapping(state.get("request")).get("prompt") for state in states]
    known = [p for p in asked if isinstance(p, str) and p]
    if not known:
        return None
    found = hashlib.sha256()
    for prompt in known:
        found.update(prompt.encode("utf-8", "surrogatepass") + b"\x1e")
    return found.hexdigest()[:32]


def _first(books: dict[str, float], *names: str) -> float | None:
    return next((books[n] for n in (f"{name}_tokens" for name in names) if n in books), None)
