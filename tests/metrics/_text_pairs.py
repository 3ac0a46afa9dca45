"""Pairs of texts for the tests of text metrics: odd ones made here, long ones from real model outputs."""

from __future__ import annotations

import ast
import functools
import json
import random
import zipfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from foreshock.metrics import Response, score_batch

ODD = [
    "",
    " ",
    "\n",
    "word",
    "a",
    ".",
    "...",
    "?!,;:-–—«»…",
    "-\n",
    "end-\nless",
    "a\nb\n\nc d",
    "line one.\nThe cat sat.\nline one.",
    "The cat sat on the mat.",
    "the cat sat on a mat",
    "cat the mat the on sat the",
    "the the the the",
    'don\'t (stop) "now"!',
    "3.5, 1,000.25 and 5-3, .5 5. ,5 5,",
    "1.,2 .,. ,, a,,5 a.,b x..5-- 5--",
    "&quot;R&amp;D&quot; &lt;b&gt; &amp;lt; & &amp",
    "<skipped> x <skip<skipped>ped> <",
    "e\u0301a\u0300 é à",
    "\u0301",
    "אבג דה, ו־ז.",
    "العربية ١٢٣٫٤",
    "我有3.5个apple，好。ｆｕｌｌ",
    "\u2001\u2003\u2a6d\U00020000\u2f81",
    "日本語のテキスト",
    "👩‍👩‍👧 👍🏽",
    "\ud800",
    "\ud800\udc00 \udfff a",
    "\0",
    "a \0 b\0c",
    "\x1c\x1d\x85\u2028 x\u00a0y",
    "ΣΑΣ ΟΔΥΣΣΕΥΣ",
    "İstanbul K ſ",
    "$5 + 3 = 8 ^ 2 | ~x `y` @me #1 50% \\ /",
    "Generously relational conditioning; happily dying skies hopping falling agreed.",
]
"""Texts at the edges of what the metrics do."""

WORDS = ["the", "The", "cat", "cats", "sat", "mat", "a", "on", "relational", "3.5", "x", "\n", "-", ".", ",", "é"]
TEXT = (
    st.sampled_from(ODD)
    | st.text(max_size=20)
    | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
    | st.text("ab. ,\n", max_size=15)
)


def odd_pairs(step: int = 1) -> list[tuple[str, str]]:
    """Every odd text with itself and with every other, or one in ``step`` of these."""
    return [(a, b) for a in ODD for b in ODD][::step]


def real_pairs(shared_data: Path, count: int, seed: int = 1) -> list[tuple[str, str]]:
    """What one model wrote against what another wrote about the same question, or against the right option's text.

    Three in four are of the first kind; both texts are long then.
    """
    folder = shared_data / "logs" / "mmlu_pro"
    one, other = (_rows(folder / f"model_outputs_{name}_5shots.zip") for name in ("Llama-2-70b-hf", "Llama-2-7b-hf"))
    keys = sorted(one.keys() & other.keys())
    pairs = []
    for i, key in enumerate(random.Random(seed).sample(keys, count)):
        row = one[key]
        target = row["options"][row["answer_index"]] if i % 4 == 0 else other[key]["generated_text"]
        pairs.append((row["generated_text"], target))
    return pairs


@functools.cache
def _rows(path: Path) -> dict[int, dict]:
    with zipfile.ZipFile(path) as archive:
        rows = json.loads(archive.read(archive.namelist()[0]))
    for row in rows:
        if isinstance(row["options"], str):
            row["options"] = ast.literal_eval(row["options"])
    return {row["question_id"]: row for row in rows}


def columns(pairs: list[tuple[str, str]]) -> dict[str, list]:
    return {"answer": [a for a, _ in pairs], "targets": [[t] for _, t in pairs]}


def agree(spec, pairs, oracle, tolerance=1e-9):
    """Both forms of the metric give the same, and within the tolerance what the oracle gives for (answer, target)."""
    found = score_batch(spec, columns(pairs))
    for (answer, target), value in zip(pairs, found.values, strict=True):
        assert value == spec(Response(answer=answer, targets=[target])), (answer[:80], target[:80])
        assert abs(value - oracle(answer, target)) <= tolerance, (answer[:80], target[:80])


def sums_agree(spec, rows, expected, tolerance=1e-9):
    """The value of a corpus from statistics of both forms, whole and merged from two parts, is the expected one."""
    together = {"answer": [a for a, _ in rows], "targets": [t for _, t in rows]}
    labels = score_batch(spec, together).labels
    stats = np.array([json.loads(label) for label in labels])
    alone = np.array([spec(Response(answer=a, targets=t)) for a, t in rows])
    assert (stats == alone).all()
    half = len(rows) // 2
    merged = np.stack((stats[:half].sum(axis=0), stats[half:].sum(axis=0)))
    assert abs(spec.result(stats) - expected) <= tolerance
    assert abs(spec.result(merged) - expected) <= tolerance
