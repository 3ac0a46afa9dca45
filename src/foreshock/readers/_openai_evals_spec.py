"""From the specification line of an OpenAI evals recording to the facts of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import digest
from foreshock.readers._json import text
from foreshock.readers._plain import Json, conditions, date, mapping, texts, whole, words
from foreshock.readers._protocol import ReadOptions
from foreshock.records import Run, Source, ingest_id, run_key

_MAX_ARGS = 30
# {run id}_{completion function}_{eval}.jsonl; the run id is a time and eight letters
_NAME = re.compile(r"\d{12}[A-Z2-7]{8}_(.+)_([^_]+)")


def is_model_graded(spec: Json) -> bool:
    """Whether a model judges the replies: the last sampling of each sample is then the judge's."""
    return "modelgraded" in str(mapping(mapping(spec.get("run_config")).get("eval_spec")).get("cls") or "")


class Found(NamedTuple):
    """A specification (empty when the file has none), the file, and which of its runs it is."""

    spec: Json
    path: Path
    origin: Source
    number: int


def run_of(given: Found, options: ReadOptions, reader: tuple[str, int]) -> Run:
    """The run; without a specification the model and the task are guessed from the name of the file."""
    spec, path, origin, number = given
    functions, found = _functions(spec), _NAME.fullmatch(path.stem)
    judged = is_model_graded(spec)
    models = functions[:-1] if judged and len(functions) > 1 else functions
    model, task = ",".join(models), text(words(spec.get("eval_name")) or words(spec.get("base_eval")) or "")
    guesses = [name for name, known in (("model", model), ("task", task)) if not known and not getattr(options, name)]
    run_id = words(spec.get("run_id"))
    key = run_key("openai-evals", run_id or f"{origin.sha256} {number}", task)
    name = f"{reader[0]}@{reader[1]}"
    evaluated = mapping(mapping(spec.get("run_config")).get("eval_spec"))
    run = Run(
        run_key=key,
        format=reader[0],
        reader=name,
        model=model or options.model or text(found[1] if found else path.stem),
        task=task or options.task or text(found[2] if found else path.stem),
        conditions=_conditions(spec, functions),
        seed=whole(mapping(spec.get("run_config")).get("seed")),
        created=_created(spec),
        scorer_hash=digest([evaluated.get("cls"), evaluated.get("args")], 16) if evaluated else None,
        judge=_judge(evaluated, functions) if judged else None,
        sources=[origin],
        warnings=[f"not in the log, but taken from the name of the file: {' and '.join(guesses)}"] if guesses else [],
        guesses=guesses,
        meta={k: v for k, v in {"run_id": run_id, "split": words(spec.get("split"))}.items() if v},
    )
    said = {"model": options.model, "task": options.task}
    return msgspec.structs.replace(run, ingest_id=ingest_id(key, run.sources, name, said))


def _functions(spec: Json) -> list[str]:
    """What was asked: completion functions, in the first releases model names."""
    named = spec.get("completion_fns") or mapping(spec.get("model_names")).get("completions") or spec.get("model_name")
    return [text(name) for name in texts(named) if name]


def _created(spec: Json) -> str | None:
    found = date(spec.get("created_at"))
    # written by datetime.utcnow()
    return f"{found}Z" if found is not None and "T" in found and not re.search(r"(Z|[+-]\d\d:\d\d)$", found) else found


def _conditions(spec: Json, functions: list[str]) -> dict[str, str]:
    config = mapping(spec.get("run_config"))
    args: Json = mapping(mapping(config.get("eval_spec")).get("args"))
    plain = {k: v for k, v in list(args.items())[:_MAX_ARGS] if isinstance(v, str | int | float | bool)}
    found: dict[str, Any] = {
        "shots": whole(plain.pop("num_few_shot", None)),
        "limit": config.get("max_samples"),
        "chain_of_thought": "yes" if any(name.startswith("cot/") for name in functions) else None,
        **{f"task.{text(k)[:100]}": v for k, v in plain.items()},
    }
    return conditions(found)


def _judge(evaluated: Json, functions: list[str]) -> str | None:
    args = mapping(evaluated.get("args"))
    by = words(args.get("eval_completion_fn")) or (functions[-1] if functions else None)
    return text(" by ".join(p for p in (words(args.get("modelgraded_spec")), by) if p)) or None
