"""Named sets of roles for item files that many people have."""

from __future__ import annotations

import re
from typing import NamedTuple

from foreshock._base import ConfigError, nearest


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


class MatrixPreset(NamedTuple):
    """How a published matrix of models and items is to be read.

    Attributes:
        label: Column with the names of the items.
        subset: Column with their category.
        codes: Cell to what it stands for.
        task: Name of the task.
    """

    label: str
    subset: str
    codes: dict[str, str]
    task: str


MATRICES = {
    # the outputs of TIGER-AI-Lab/MMLU-Pro put together: 1 right, 0 wrong, -1 no answer parsed, -2 absent
    "mmlu-pro-items": MatrixPreset("question_id", "category", {"-1": "unparsed", "-2": "missing"}, "mmlu-pro"),
}


def preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        ConfigError: There is none.

    Examples:
        >>> preset("mmlu-pro").name.match("model_outputs_Llama-2-7b-hf_5shots")["model"]
        'Llama-2-7b-hf'
    """
    refuse_unknown(name)
    if name not in PRESETS:
        raise ConfigError(
            f"the preset {name!r} reads no responses",
            expected=", ".join(sorted(PRESETS)),
            do="use --map; it is one of tables of scores or of a matrix",
        )
    return PRESETS[name]


def refuse_unknown(name: str) -> None:
    """Refuse the name of a preset that there is not.

    Raises:
        ConfigError: There is none of that name.
    """
    from foreshock.readers._tables_boards import BOARDS

    known = sorted({*PRESETS, *MATRICES, *BOARDS})
    if name not in known:
        near = nearest(name, known, 1)
        raise ConfigError(
            f"no preset is called {name!r}",
            expected=", ".join(known),
            do=f"did you mean {near[0]}?" if near else "or use --map",
        )
