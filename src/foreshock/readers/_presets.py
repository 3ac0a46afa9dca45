"""Named sets of roles for item files that many people have."""

from __future__ import annotations

import re
from typing import NamedTuple

from foreshock._base import ConfigError


class Preset(NamedTuple):
    """How the files of one benchmark are to be read.

    Attributes:
        roles: Role to column.
        name: What the file is called; the groups ``model`` and ``shots`` are taken from it.
        task: Name of the task.
    """

    roles: dict[str, str]
    name: re.Pattern[str]
    task: str


PRESETS = {
    # github.com/TIGER-AI-Lab/MMLU-Pro, eval_results: one JSON array per model, zipped
    "mmlu-pro": Preset(
        roles={
            "item": "question_id",
            "input": "question",
            "choices": "options",
            "target": "answer",
            "gold_index": "answer_index",
            "answer": "pred",
            "output": "generated_text",
            "subset": "category",
        },
        name=re.compile(r"model_outputs_(?P<model>.+?)(?:_(?P<shots>\d+)shots?)?$"),
        task="mmlu-pro",
    ),
}


def preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        ConfigError: There is none.

    Examples:
        >>> preset("mmlu-pro").name.match("model_outputs_Llama-2-7b-hf_5shots")["model"]
        'Llama-2-7b-hf'
    """
    if name not in PRESETS:
        raise ConfigError(f"no preset is called {name!r}", expected=", ".join(sorted(PRESETS)), do="or use --map")
    return PRESETS[name]
