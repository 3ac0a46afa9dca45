"""From a results file of BIG-bench to the facts of its runs: one for each subtask and number of shots."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from foreshock.readers._json import text
from foreshock.readers._plain import Json, conditions, mapping, number, whole, words
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._rows import item_name
from foreshock.records import Batch, ModelCard, Run, Source, ingest_id, run_key

PROGRAMMATIC = "programmatic"
"""What queries of a task that is a program are filed under: it cannot know the names of its subtasks."""

_TEMPERATURE = re.compile(r"[\s_-]*\bT\s?=\s?(\d+(?:\.\d+)?)")
_RATES = frozenset(
    {
        *("multiple_choice_grade", "exact_str_match", "case_insensitive_str_match", "macro_f1"),
        *("numeric_match_with_0_1_relative_error", "expected_calibration_error"),
    }
)
_LOWER = frozenset({"expected_calibration_error", "calibration_multiple_choice_brier_score", "perplexity"})
_MAX_PARAMETERS = 1e18


class Part(NamedTuple):
    """The scores of one subtask under one number of shots.

    Attributes:
        task: Task, with the subtask after a colon.
        shots: Examples in the prompt; None where that makes no sense for the task (logged as -1).
        scores: Its entries, one unless the file repeats itself.
    """

    task: str
    shots: int | None
    scores: list[Json]


def full_name(task: str, described: str | None) -> str:
    """The task of an entry; an entry described by the task's own name is of the whole task.

    Examples:
        >>> full_name("arithmetic", "1_digit_addition"), full_name("arithmetic", "arithmetic")
        ('arithmetic:1_digit_addition', 'arithmetic')
    """
    if not described or described == task or not task:
        return described or task
    return described if described.startswith(f"{task}:") else f"{task}:{described}"


def parts_of(task: str, scores: list[Json]) -> list[Part]:
    """The runs of a file in its order."""
    found: dict[tuple[str, int | None], Part] = {}
    for entry in scores:
        shots = whole(entry.get("number_of_shots"))
        shots = None if shots is None or shots < 0 else shots
        name = text(full_name(task, words(entry.get("subtask_description"))))
        found.setdefault((name, shots), Part(name, shots, [])).scores.append(entry)
    return list(found.values())


def run_of(part: Part, model: Json, origin: Source, options: ReadOptions, reader: tuple[str, int]) -> Run:
    """The run of one part; the temperature that BIG-bench puts into the family's name is a condition."""
    logged = text(words(model.get("model_family")) or "")
    heat = _TEMPERATURE.search(logged)
    family = _TEMPERATURE.sub("", logged).strip() if heat else logged
    name = text(words(model.get("model_name")) or "")
    called = name if family and name.lower().startswith(family.lower()) else f"{family} {name}".strip()
    guesses = [k for k, v in (("model", called), ("task", part.task)) if not v and not getattr(options, k)]
    decoding = mapping(model.get("decoding_params"))
    key = run_key("bigbench", logged, name or origin.sha256, part.task, part.shots)
    preferred = words(part.scores[0].get("preferred_score")) if part.scores else None
    run = Run(
        run_key=key,
        format=reader[0],
        reader=f"{reader[0]}@{reader[1]}",
        model=called or options.model or "unknown",
        card=_card(model, family),
        task=part.task or options.task or "unknown",
        conditions=conditions(
            {
                "shots": part.shots,
                "temperature": heat[1] if heat else decoding.get("temperature"),
                **{f"decoding.{text(k)[:100]}": v for k, v in decoding.items() if k != "temperature"},
            }
        ),
        chance=_chance(part, preferred),
        sources=[origin],
        warnings=[f"the file lists its scores {len(part.scores)} times; all are kept"] if len(part.scores) > 1 else [],
        guesses=guesses,
        meta=_meta(part, model, preferred),
    )
    said = {"model": options.model, "task": options.task}
    return msgspec.structs.replace(run, ingest_id=ingest_id(key, run.sources, run.reader, said))


def _card(model: Json, family: str) -> ModelCard:
    total, active = (_size(model.get(k)) for k in ("total_params", "flop_matched_non_embedding_params"))
    # a sparse model computes with fewer parameters than it has; a dense one is matched by itself
    sparse = active is not None and active != _size(model.get("non_embedding_params"))
    return ModelCard(
        family=re.sub(r"[^a-z0-9.]+", "-", family.lower()).strip("-") or None,
        parameters=total,
        active_parameters=active if sparse else None,
        architecture="mixture of experts" if "sparse" in family.lower() else None,
    )


def _size(value: Any) -> float | None:
    found = number(value)
    return found if found is not None and 0 < found < _MAX_PARAMETERS else None


def _chance(part: Part, preferred: str | None) -> float | None:
    """``low_score`` is "poor or chance level": it is taken where choosing at random has a score."""
    low = number(part.scores[0].get("low_score")) if part.scores else None
    return low if preferred == "multiple_choice_grade" else None


def _meta(part: Part, model: Json, preferred: str | None) -> dict[str, Any]:
    entry: Json = part.scores[0] if part.scores else {}
    found = {
        "preferred_metric": preferred and item_name(preferred),
        "low_score": number(entry.get("low_score")),
        "high_score": number(entry.get("high_score")),
        **{k: number(model.get(k)) for k in ("non_embedding_params", "training_batch_size", "training_steps")},
    }
    return {k: v for k, v in found.items() if v is not None}


def aggregates(part: Part, n: int | None) -> Batch:
    """Every score of a part, the preferred metric first; ``raw`` marks it and keeps its low and high scores."""
    rows: list[tuple[str, float | None, Json]] = []
    for entry in part.scores:
        preferred = words(entry.get("preferred_score"))
        found = mapping(entry.get("score_dict"))
        for name in sorted(found, key=lambda name: name != preferred):
            raw: Json = {"value": found[name]}
            if name == preferred:
                raw |= {"preferred": True, "low_score": entry.get("low_score"), "high_score": entry.get("high_score")}
            rows.append((name, number(found[name]), raw))
    return Batch(
        "aggregates",
        {
            "metric_id": [item_name(name) for name, _, _ in rows],
            "value": [value for _, value, _ in rows],
            "n": [n] * len(rows),
            "low": [0.0 if name in _RATES else None for name, _, _ in rows],
            "high": [1.0 if name in _RATES else None for name, _, _ in rows],
            "higher_is_better": [name not in _LOWER if name in _RATES | _LOWER else None for name, _, _ in rows],
            "source": ["harness"] * len(rows),
            "raw": [msgspec.json.encode(raw).decode() for _, _, raw in rows],
        },
    )
