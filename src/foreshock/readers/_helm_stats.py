"""Statistics of a HELM run: of every instance, and of the whole run."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from foreshock._base import ForeshockError, canonical
from foreshock.readers._json import decode
from foreshock.readers._plain import Json, Problems, mapping, number, whole, words
from foreshock.readers._rows import item_name
from foreshock.records import Batch

# what HELM counts beside the scores: sizes, costs, times and how generations ended
_BOOKKEEPING = frozenset(
    {
        *("num_references", "num_train_trials", "num_train_instances", "num_instances", "num_completions"),
        *("num_prompt_tokens", "num_completion_tokens", "num_output_tokens", "num_perplexity_tokens", "num_bytes"),
        *("training_co2_cost", "training_energy_cost", "inference_runtime", "inference_idealized_runtime"),
        *("inference_denoised_runtime", "batch_size", "prompt_truncated", "estimated_num_tokens_cost"),
    }
)
_RATES = (
    *("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "f1_score", "rouge_1"),
    *("rouge_2", "rouge_l", "bleu_1", "bleu_4", "classification_micro_f1", "classification_macro_f1", "math_equiv"),
)
_PLAIN = frozenset({"name", "robustness", "fairness", "computed_on"})
_ANY = msgspec.json.Decoder(Any)


class Key(NamedTuple):
    """What a response of a run is known by; ids repeat across perturbations and training sets."""

    instance: str
    perturbation: str | None
    trial: int


def key_of(instance_id: Any, perturbation: Any, trial: Any) -> Key:
    """The key of a request or of a row of statistics."""
    number_of = whole(trial) or 0
    return Key(item_name(str(instance_id)), perturbation_of(perturbation), number_of if 0 <= number_of < 2**31 else 0)


def perturbation_of(found: Any) -> str | None:
    """Name of a perturbation with the settings that tell it from others of that name.

    Examples:
        >>> perturbation_of({"name": "dialect", "prob": 1.0, "fairness": True})
        'dialect(prob=1.0)'
    """
    given = mapping(found)
    if not given:
        return None
    more = ", ".join(f"{k}={_shown(v)}" for k, v in sorted(given.items()) if k not in _PLAIN and v is not None)
    name = str(given.get("name") or "perturbed")
    return item_name(f"{name}({more})" if more else name)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value).decode()


def metric_of(name: Json) -> str:
    """Name of a statistic with its split and perturbation: means over different ones are different numbers.

    Examples:
        >>> metric_of({"name": "exact_match", "split": "test"})
        'exact_match,test'
        >>> worst = {"name": "robustness", "robustness": True, "computed_on": "worst"}
        >>> metric_of({"name": "exact_match", "split": "test", "perturbation": worst})
        'exact_match,test,robustness,worst'
    """
    perturbation = mapping(name.get("perturbation"))
    where = words(perturbation.get("computed_on"))
    parts = (words(name.get("name")), words(name.get("split")), words(name.get("sub_split")))
    return ",".join([p for p in (*parts, perturbation_of(perturbation), where) if p])


def is_bookkeeping(metric: str) -> bool:
    """Whether a statistic counts something beside the answer: such a number is kept, but is no score."""
    name = metric.partition(",")[0]
    return name in _BOOKKEEPING or name.startswith("finish_reason_")


class Measured(NamedTuple):
    """The statistics of one key: metric to mean; None where nothing was measured."""

    scores: dict[str, float | None]
    books: dict[str, float]


class InstanceStats:
    """Statistics by key.

    HELM listed one key several times until its issue 1205: the lists are joined. A mean that is not there or is of
    nothing (``count`` 0) was not measured.

    Attributes:
        found: What is known of each key.
        joined: Entries that came again under a key.
        unequal: Statistics that came again with another mean; the first is kept.
    """

    def __init__(self, entries: list[msgspec.Raw] | None, problems: Problems) -> None:
        self.found: dict[Key, Measured] = {}
        self.joined = self.unequal = 0
        for place, raw in enumerate(entries or [], 1):
            try:
                self._add(mapping(decode(bytes(raw), _ANY, "")))
            except ForeshockError as error:
                problems.add(place, error.found)
            except KeyError as error:
                problems.add(place, f"no {error.args[0]}")

    def _add(self, entry: Json) -> None:
        key = key_of(entry["instance_id"], entry.get("perturbation"), entry.get("train_trial_index"))
        known = self.found.get(key)
        if known is None:
            known = self.found[key] = Measured({}, {})
        else:
            self.joined += 1
        for metric, mean in _means(entry["stats"]):
            self._join(known, metric, mean)

    def _join(self, known: Measured, metric: str, mean: float | None) -> None:
        if is_bookkeeping(metric):
            if mean is not None:
                known.books.setdefault(metric.partition(",")[0], mean)
            return
        before = known.scores.get(metric)
        if before is None:
            known.scores[metric] = mean
        elif mean is not None and mean != before:
            self.unequal += 1


def _means(stats: Any) -> list[tuple[str, float | None]]:
    if isinstance(stats, dict):  # names to means, as the front end had them
        return [(str(name), number(value)) for name, value in stats.items()]
    found = []
    for stat in stats if isinstance(stats, list) else []:
        name = mapping(mapping(stat).get("name"))
        if metric := metric_of(name):
            found.append((item_name(metric), _mean(stat)))
    return found


def _mean(stat: Json) -> float | None:
    return None if stat.get("count") == 0 else number(stat.get("mean"))


def aggregates(stats: list[Any], problems: Problems) -> Batch:
    """Every mean of the run; ``n`` is the instances of its split, which HELM states as a statistic of its own."""
    rows: list[tuple[str, str, float | None, Json]] = []
    sizes: dict[str | None, int | None] = {}
    for place, stat in enumerate(stats, 1):
        name = mapping(mapping(stat).get("name"))
        if not (metric := metric_of(name)):
            problems.add(place, "no name")
            continue
        split = words(name.get("split"))
        mean = _mean(stat)
        if name.get("name") == "num_instances" and not name.get("perturbation"):
            sizes[split] = whole(mean)
        rows.append((item_name(metric), split or "", mean, stat))
    rates = [metric.partition(",")[0].partition("@")[0] in _RATES for metric, _, _, _ in rows]
    return Batch(
        "aggregates",
        {
            "metric_id": [metric for metric, _, _, _ in rows],
            "value": [mean for _, _, mean, _ in rows],
            "n": [sizes.get(split or None) for _, split, _, _ in rows],
            "low": [0.0 if rate else None for rate in rates],
            "high": [1.0 if rate else None for rate in rates],
            "higher_is_better": [True if rate else None for rate in rates],
            "source": ["harness"] * len(rows),
            "raw": [msgspec.json.encode({k: v for k, v in s.items() if k != "name"}).decode() for _, _, _, s in rows],
        },
    )
