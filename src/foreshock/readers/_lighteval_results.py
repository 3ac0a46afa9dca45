"""Results files of lighteval, and what the paths of its files say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, canonical, digest
from foreshock.readers._files import whole
from foreshock.readers._json import check_encoding, text
from foreshock.readers._lm_eval_aggregates import RATES
from foreshock.readers._lm_eval_line import finite
from foreshock.readers._plain import mapping
from foreshock.readers._replies import listed, loaded, plain, text_of, whole_number
from foreshock.records import Batch

_MOMENT = re.compile(r"_(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)$")
_FOLDER = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LETTERS = re.compile(r"[^A-Za-z0-9.]+")
_STDERR = "_stderr"
_AVERAGE = ":_average"
_ALL = "all"
_SETTINGS = ("temperature", "top_p", "top_k", "max_new_tokens", "seed", "reasoning_effort", "system_prompt")
_MAX_CONDITION = 200


class Place(NamedTuple):
    """What the path of a file says.

    Attributes:
        model: Folders between ``details`` or ``results`` and the moment.
        moment: When the files of one call were written, spelled with hyphens.
        task: Name of the task with suite and shots, as the file name has it.
    """

    model: str | None
    moment: str | None
    task: str

    @property
    def name(self) -> str:
        """The task without its shots."""
        return split_shots(self.task)[0]

    @property
    def shots(self) -> str | None:
        """Few-shot examples."""
        return split_shots(self.task)[1]


def split_shots(task: str) -> tuple[str, str | None]:
    """A task without its shots, and these; old files also say whether examples may be cut, with a 0 or 1 at the end.

    Examples:
        >>> split_shots("harness|arc:challenge|25"), split_shots("mmlu:law|5|0"), split_shots("gsm8k")
        (('harness|arc:challenge', '25'), ('mmlu:law', '5'), ('gsm8k', None))
    """
    parts = task.split("|")
    numbers = 0
    while numbers < 2 and len(parts) - numbers > 1 and parts[-1 - numbers].isdecimal():
        numbers += 1
    if not numbers:
        return task, None
    return "|".join(parts[:-numbers]), parts[len(parts) - numbers]


def place_of(path: Path) -> Place:
    """What a path says."""
    stem = text(path.stem)
    found = _MOMENT.search(stem)
    folders = [text(part) for part in path.absolute().parent.parts]
    if folders and _FOLDER.fullmatch(folders[-1]):
        folders.pop()
    known = [k for k, part in enumerate(folders) if part in ("details", "results")]
    model = "/".join(folders[known[-1] + 1 :]) if known else ""
    if not model and folders:
        # a copy of a data set of the leaderboard: details_{organisation}__{model}
        name = folders[-1].removesuffix("_private")
        model = name.removeprefix("details_").replace("__", "/") if name.startswith("details_") else ""
    moment = found[1].replace(":", "-") if found else None
    task = _MOMENT.sub("", stem).removeprefix("details_").removeprefix("results")
    return Place(model or None, moment, task)


def when(moment: str | None) -> str | None:
    """The moment of a file name as ISO 8601, in the local time of the machine that ran it."""
    if moment is None:
        return None
    day, _, clock = moment.partition("T")
    return f"{day}T{clock.replace('-', ':')}"


def is_results(head: bytes) -> bool:
    """Whether a file begins like results."""
    if not head.startswith(b"{"):
        return False
    general = b'"config_general"' in head and (b'"lighteval_sha"' in head or b'"model_name"' in head)
    return general or (b'"summary_tasks"' in head and b'"results"' in head)


def read_results(path: Path) -> Results:
    """Read a results file.

    Raises:
        BrokenFileError: It is no JSON object with results.
    """
    data = whole(path)
    check_encoding(data, str(path))
    found = loaded(data, str(path))
    if not isinstance(found, dict) or not mapping(found.get("results")):
        raise BrokenFileError(
            "no results in it", expected="the results file of lighteval", do="remove it", where=str(path)
        )
    return Results(found)


class Results:
    """One results file.

    Args:
        found: The document.

    Attributes:
        tasks: Names in ``results``; the mean of unlike tasks, ``all``, is left out beside them.
        model: The model.
        writer: Commit of lighteval.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self._general = mapping(found.get("config_general"))
        config = mapping(self._general.get("model_config"))
        self.model = text_of(self._general.get("model_name")) or text_of(config.get("model_name"))
        sha = text_of(self._general.get("lighteval_sha"))
        self.writer = None if sha in (None, "?") else sha
        self._config = config
        results = mapping(found.get("results"))
        self.tasks = [t for t, metrics in results.items() if isinstance(metrics, dict) and t != _ALL] or [
            t for t, metrics in results.items() if isinstance(metrics, dict)
        ]

    def is_of(self, place: Place) -> bool:
        """Whether details of the same moment are of this model."""
        if self.model is None or place.model is None:
            return True
        ends = [_LETTERS.sub("_", name) for name in (self.model, place.model)]
        return ends[0] == ends[1] or ends[0].endswith(f"_{ends[1]}")

    def task_of(self, place: Place) -> str | None:
        """The task that a file of details is of; signs that a file name cannot have do not count."""
        asked = _LETTERS.sub("_", place.task)
        return next((t for t in self.tasks if _LETTERS.sub("_", t) == asked), None)

    def name_of(self, task: str) -> str:
        """The task without its shots."""
        return split_shots(task)[0]

    def size(self, task: str) -> int | None:
        """Documents that were evaluated."""
        config = self._task(task)
        names = ("effective_num_docs", "_effective_num_docs")
        found = next((whole_number(config[n]) for n in names if n in config), None)
        return found if found is not None and found > 0 else None

    def version(self, task: str) -> str | None:
        """Version of the task."""
        return plain(self._of("versions", task))

    def conditions(self, task: str) -> dict[str, str]:
        """What must be equal for two results to be comparable, as text."""
        generation = mapping(self._general.get("generation_parameters")) or mapping(
            self._config.get("generation_parameters")
        )
        found: dict[str, Any] = {
            "shots": split_shots(task)[1],
            "limit": self._general.get("max_samples"),
            **{name: generation.get(name) or self._config.get(name) for name in _SETTINGS},
        }
        shown = {k: plain(v) for k, v in found.items() if v is not None}
        return {k: v if len(v) <= _MAX_CONDITION else f"sha256:{digest(v, 16)}" for k, v in shown.items() if v}

    def prompt_hash(self, task: str) -> str | None:
        """Hash of the parts of a task's configuration that make its prompt."""
        names = ("prompt_function", "hf_repo", "hf_subset", "evaluation_splits", "few_shots_split", "few_shots_select")
        return self._hash(task, names)

    def scorer_hash(self, task: str) -> str | None:
        """Hash of the parts that make its scores."""
        return self._hash(task, ("metric", "metrics", "stop_sequence", "generation_size"))

    def meta(self, task: str) -> dict[str, Any]:
        """What else is known."""
        found = {
            "model_sha": text_of(self._general.get("model_sha")),
            "model_dtype": text_of(self._general.get("model_dtype")),
            "group_of": self._members(task) or None,
            "task_name": task,
        }
        return {k: v for k, v in found.items() if v}

    def aggregates(self, task: str) -> Batch:
        """The logged means of a task. The standard error of an average is the mean of errors, which is none."""
        metrics = mapping(mapping(self._found.get("results")).get(task))
        average = bool(self._members(task)) or task == _ALL
        names = [m for m in metrics if not m.endswith(_STDERR)]
        errors = [None if average else finite(metrics.get(m + _STDERR)) for m in names]
        rates = [m in RATES for m in names]
        values = [None if isinstance(metrics[m], bool) else finite(metrics[m]) for m in names]
        columns: dict[str, list[Any]] = {
            "metric_id": names,
            "value": values,
            "stderr": errors,
            "stderr_kind": [None if e is None else "harness" for e in errors],
            "n": [self.size(task)] * len(names),
            "low": [0.0 if r else None for r in rates],
            "high": [1.0 if r else None for r in rates],
            "higher_is_better": [self._better(task, m, rate) for m, rate in zip(names, rates, strict=True)],
            "source": ["harness"] * len(names),
            "raw": [msgspec.json.encode(metrics[m]).decode() for m in names],
        }
        return Batch("aggregates", columns)

    def _better(self, task: str, metric: str, rate: bool) -> bool | None:
        config = self._task(task)
        for found in map(mapping, [*listed(config.get("metrics")), *listed(config.get("metric"))]):
            if found.get("metric_name") == metric and isinstance(found.get("higher_is_better"), bool):
                return bool(found["higher_is_better"])
        return True if rate else None

    def _members(self, task: str) -> list[str]:
        name, shots = split_shots(task)
        if not name.endswith(_AVERAGE):
            return []
        begin = name.removesuffix(_AVERAGE) + ":"
        return [t for t in self.tasks if t != task and t.startswith(begin) and split_shots(t)[1] == shots]

    def _task(self, task: str) -> dict[str, Any]:
        return mapping(self._of("config_tasks", task))

    def _of(self, part: str, task: str) -> Any:
        """A member by the task's name with or without its shots."""
        found = mapping(self._found.get(part))
        names = (task, task.replace("|", ":"), split_shots(task)[0])
        return next((found[n] for n in names if n in found), None)

    def _hash(self, task: str, names: tuple[str, ...]) -> str | None:
        config = self._task(task)
        kept = {n: config[n] for n in names if config.get(n) is not None}
        return _stable_hash(kept) if kept else None


def _stable_hash(value: Any) -> str | None:
    """Hash without the addresses of functions, which differ in every process; None for what is nested without end."""
    try:
        text = canonical(value).decode()
    except RecursionError:
        return None
    return digest(_ADDRESS.sub("", text), 16)
