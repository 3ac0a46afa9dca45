"""What an lm-evaluation-harness results file says about its runs: model, conditions, versions, sizes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import digest
from foreshock.readers._json import text
from foreshock.readers._lm_eval_results import Header, Json

DATE_ID = re.compile(r"_(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?)$")
# a Jinja template given as a Python function is logged with its address, which differs in every process
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLACEHOLDER_VERSIONS = {"Yaml", "N/A", "None", ""}
# in the order of the harness's own EvaluationTracker
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")
_MAX_CONDITION = 200
MAX_COUNT = 2**53


def listed(value: Any) -> list[Json]:
    """The objects of a list in a task's configuration; none when it is something else."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def arguments(config: Json) -> dict[str, str]:
    """``model_args`` as a mapping, whichever way it was logged.

    Examples:
        >>> arguments({"model_args": "use_accelerate=True,pretrained=EleutherAI/pythia-70m,revision=step0"})["revision"]
        'step0'
    """
    given = config.get("model_args")
    if isinstance(given, dict):
        return {str(k): str(v) for k, v in given.items()}
    pairs = (part.partition("=") for part in str(given or "").split(",") if part)
    return {key.strip(): value.strip() for key, _, value in pairs}


def model_of(header: Header, path: Path) -> tuple[str, bool]:
    """Name of the model with its revision, and whether it was guessed from the path of the file.

    A local path says where a checkpoint lay, not which it was; when the file stands in a folder whose name its own
    name begins with (``latxa-7b-v1/latxa-7b-v1_wiceu_5-shot.json``), that name is taken.
    """
    args = arguments(header.config or {})
    logged = header.model_name or next((args[k] for k in _MODEL_ARGUMENTS if args.get(k)), "")
    if not logged or _is_local(logged):
        folder = path.absolute().parent.name
        if folder and path.name.startswith(f"{folder}_"):
            return text(folder), True
    if not logged:
        kind = str((header.config or {}).get("model") or "")
        return (kind, False) if kind else (text(path.stem), True)
    return with_revision(tidy(logged), args.get("revision")), False


def with_revision(model: str, revision: str | None) -> str:
    """The model's name and, unless it is the default branch, the revision: checkpoints of one run differ only there."""
    return f"{model}@{revision}" if revision and revision not in ("main", "None") else model


def tidy(name: str) -> str:
    """The same name without doubled and trailing slashes."""
    return re.sub(r"/{2,}", "/", name).rstrip("/") or name


def _is_local(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~")) or name.count("/") > 1


def sanitized(model: str) -> str:
    """The harness's own spelling of a model in file and folder names."""
    return re.sub(r"[\"<>:/|\\?*\[\]]+", "__", model)


def date_id(path: Path) -> str | None:
    """The moment at the end of a file name, which results and samples of one call share."""
    found = DATE_ID.search(path.stem)
    return found[1] if found else None


def created(header: Header | None, moment: str | None) -> tuple[str | None, bool]:
    """ISO 8601 time of the run and whether it is only the local time in the file name."""
    date = header.date if header else None
    if isinstance(date, int | float) and 0 < date < 1e11:
        return datetime.fromtimestamp(date, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"), False
    if isinstance(date, str) and _is_date(date):
        return date, False
    if moment is None:
        return None, False
    day, _, clock = moment.partition("T")
    return f"{day}T{clock.replace('-', ':')}", True


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def shots(header: Header, task: str) -> int | None:
    """Few-shot examples of a task: per task, else in the task's configuration, else of the whole run."""
    given = (header.shots or {}).get(task)
    if given is None:
        given = ((header.configs or {}).get(task) or {}).get("num_fewshot")
    if given is None:
        given = (header.config or {}).get("num_fewshot")
    return given if type(given) is int else None


def version(header: Header, task: str) -> str | None:
    """Version of the task; ``Yaml`` and ``N/A`` are written where there is none."""
    given = str((header.versions or {}).get(task, ""))
    return None if given in _PLACEHOLDER_VERSIONS else given


def size(header: Header, task: str) -> int | None:
    """Documents evaluated, when the file says so."""
    given = ((header.sizes or {}).get(task) or {}).get("effective")
    return given if type(given) is int and 0 < given < MAX_COUNT else None


def filters(header: Header | None, task: str) -> list[str]:
    """Names of the answer filters of a task, in the order in which their lines are logged."""
    own = (header.configs or {}).get(task) or {} if header else {}
    names = [str(f.get("name")) for f in listed(own.get("filter_list")) if f.get("name")]
    return names or ["none"]


def conditions(header: Header, task: str) -> dict[str, str]:
    """What must be equal for two results to be comparable, as text."""
    config, own = header.config or {}, (header.configs or {}).get(task) or {}
    n = shots(header, task)
    found = {
        "shots": n,
        "limit": config.get("limit"),
        "filters": ",".join(filters(header, task)) if own.get("filter_list") else None,
        # which one it is belongs to the model: it must not be equal, and stands among the facts of the run
        "chat_template": "yes" if template(header) else None,
        "system_instruction": header.system_instruction_sha or ("yes" if header.system_instruction else None),
        "multiturn": "yes" if header.fewshot_as_multiturn else None,
        "gen_kwargs": own.get("generation_kwargs"),
        "gen_kwargs_given": config.get("gen_kwargs"),
    }
    return {key: _condition(value) for key, value in found.items() if value not in (None, "", {}, [])}


def template(header: Header) -> str | None:
    """Hash of the chat template that the prompts went through; None where none was applied."""
    if header.chat_template_sha or not header.chat_template:
        return header.chat_template_sha
    return digest(header.chat_template, 16) if isinstance(header.chat_template, str) else "yes"


def _condition(value: Any) -> str:
    shown = value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()
    return shown if len(shown) <= _MAX_CONDITION else f"sha256:{digest(value, 16)}"


def hashes(header: Header, task: str) -> tuple[str | None, str | None]:
    """Identity of the prompt and of the scoring of a task; None where the file has no configuration."""
    own = (header.configs or {}).get(task)
    if not own:
        return None, None
    asked = ("dataset_path", "dataset_name", "doc_to_text", "doc_to_target", "doc_to_choice", "description")
    posed = ("target_delimiter", "fewshot_delimiter", "fewshot_split", "fewshot_config", "process_docs", "output_type")
    judged = ("metric_list", "filter_list", "process_results", "output_type")
    prompt = [_stable({k: own.get(k) for k in asked + posed}), shots(header, task), bool(template(header))]
    return digest([*prompt, header.system_instruction_sha], 16), digest(_stable({k: own.get(k) for k in judged}), 16)


def _stable(value: Any) -> Any:
    if isinstance(value, str):
        return _ADDRESS.sub("", value)
    if isinstance(value, dict):
        return {str(k): _stable(v) for k, v in value.items()}
    return [_stable(v) for v in value] if isinstance(value, list) else value


def subtasks(header: Header, task: str) -> list[str] | None:
    """Members of a group, or None when ``task`` is a single task.

    Older files list no members; there the aliases tell: those of members are indented under their group's.
    """
    members = (header.group_subtasks or {}).get(task)
    if members:
        return members
    if task not in (header.groups or {}):
        return None
    names = list(header.results)
    if task not in names:  # a group without means of its own
        return []
    depth, found = _depth(header, task), []
    for name in names[names.index(task) + 1 :]:
        if _depth(header, name) <= depth:
            break
        found.append(name)
    return found


def _depth(header: Header, task: str) -> int:
    alias = header.results[task].get("alias")
    return len(alias) - len(alias.lstrip(" -")) if isinstance(alias, str) else 0
