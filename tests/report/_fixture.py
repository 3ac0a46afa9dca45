"""A document like a real one, made by code: verdicts of each kind, reasons not to give one, failures, hostile text."""

from __future__ import annotations

import math
from typing import Any

from foreshock.records import (
    Alternative,
    Document,
    Dummy,
    Effect,
    Evidence,
    Finding,
    Fit,
    Need,
    Rate,
    State,
    Subject,
)

SIZES = [70e6, 160e6, 410e6, 1e9, 1.4e9, 2.8e9, 6.9e9, 12e9]
NAMES = ["70m", "160m", "410m", "1b", "1.4b", "2.8b", "6.9b", "12b"]
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "end": "</script><img src=x onerror=alert(1)>",
    "attribute": '"onerror="alert(1)" x="',
    "ansi": "\x1b[31mred\x1b[0m\x1b]8;;http://example.com\x07link\x1b]8;;\x07",
    "bidi": "user\u202egnp.exe",
    "hidden": "gpt\u200b-4\u2060\ufeff\U000e0041",
    "markup": "[red]not red[/red] [link=http://example.com]x[/link] :smile:",
    "jinja": "{{ 7 * 7 }}{% raw %}",
    "lines": "one\r\ntwo\u2028three\x00four",
    "markdown": "| a | `code` [x](http://example.com) @someone <b>",
}
LIGHTS = ("delivered", "metric", "resolution", "headroom", "comparable", "trend")


def series(
    finding: Finding, role: str, metric: str, values: list[float], unit: str, width: float, **more: Any
) -> dict[str, Any]:
    points = [
        {"label": f"pythia-{name}", "x": x, "value": v, "low": v - width, "high": v + width, "n": 5000}
        for name, x, v in zip(NAMES, SIZES, values, strict=False)
    ]
    if unit == "fraction":
        points = [p | {"low": max(0.0, p["low"]), "high": min(1.0, p["high"])} for p in points]
    if role == "counterfactual":
        points = [p | {"low": None, "high": None} for p in points]
    row = {
        "finding_id": finding.id,
        "task": finding.subject.task,
        "family": finding.subject.model_family,
        "axis": "parameters",
        "axis_known": True,
        "log_axis": True,
        "metric": metric,
        "role": role,
        "unit": unit,
        "chance": None,
        "points": points,
    }
    return row | more


def judged(task: str, verdict: str, title: str, share: tuple[float, float, float], **more: Any) -> Finding:
    return Finding(
        code="FS301",
        subject=Subject(task=task, model_family="pythia", metric="exact_match", axis="parameters", runs=["a1", "b2"]),
        state=State.FIRING if verdict in ("break", "mirage") else State.OK,
        verdict=verdict,
        title=title,
        effect=Effect(
            name="share of the change that a break may carry",
            unit="fraction",
            value=share[0],
            low=share[1],
            high=share[2],
        ),
        p=0.0005 if verdict == "break" else 0.41,
        null="on the link, no interval rises faster than 2 times the mean slope; items are exchangeable",
        replicates=1999,
        rate=Rate(stated=0.05, measured=0.043, n=2000),
        alternatives=[
            Alternative(name="few items", status="ruled-out", why="5,000 items; the floor 1/n is 0.02%"),
            Alternative(name="harness or scorer change", status="ruled-out", why="one scorer hash in all runs"),
            Alternative(name="training recipe", status="unchecked", why="the model cards do not say"),
            Alternative(name="seeds", status="possible", why="one run per size"),
        ],
        fit=Fit(data_hash="5f1c9a7be2d04418", seed=0, starts=8, objective=-412.7),
        **more,
    )


def unresolved(task: str, family: str, what: str, have: float, enough: float | None, advice: str) -> Finding:
    return Finding(
        code="FS301",
        subject=Subject(task=task, model_family=family, axis="parameters"),
        state=State.NO_DATA,
        verdict="unresolved",
        title=f"{task}: these logs cannot tell whether {family} jumps",
        needs=[Need(what=what, have=have, enough=enough)],
        advice=advice,
    )


def verdict_row(finding: Finding, reason: str | None, **more: Any) -> dict[str, Any]:
    effect = finding.effect
    row = {
        "finding_id": finding.id,
        "task": finding.subject.task,
        "family": finding.subject.model_family,
        "axis": "parameters",
        "verdict": finding.verdict,
        "reason": reason,
        "points": 8,
        "items": 5000,
        "hard": "exact_match",
        "twin": "gold_logprob",
        "share": effect.value if effect else None,
        "share_low": effect.low if effect else None,
        "share_high": effect.high if effect else None,
        "emergence": 12.4,
        "emergence_p": 0.013,
        "link_gap": 0.021,
    }
    return row | more


def moved(finding: Finding, number: int, **more: Any) -> dict[str, Any]:
    row = {
        "finding_id": finding.id,
        "task": finding.subject.task,
        "family": "pythia",
        "item": f"add/{number}",
        "question": f"What is {4000 + number} plus {1234 + 7 * number}?",
        "target": str(5234 + 8 * number),
        "from_model": "pythia-1.4b",
        "to_model": "pythia-2.8b",
        "from_output": f"The answer is {5233 + 7 * number}.",
        "to_output": f"The answer is {5234 + 8 * number}.",
        "from_score": 0.0,
        "to_score": 1.0,
    }
    return row | more


def _light(state: str, text: str) -> dict[str, str]:
    return {"state": state, "text": text}


def _trust() -> list[dict[str, Any]]:
    fine = {
        "delivered": _light("ok", "All 40,000 expected responses arrived."),
        "metric": _light("ok", "Exact match can be read beside gold log-probability on the same answers."),
        "resolution": _light("ok", "5,000 items: a score is known to about 1.4 points."),
        "headroom": _light("ok", "The best model scores 68.7%; 31.3 points are left."),
        "comparable": _light("ok", "One prompt, one scorer and one harness version in all 8 runs."),
        "trend": _light("firing", "Between 1.4B and 2.8B the score rises by 69.5 points."),
    }
    worn = fine | {
        "delivered": _light("warn", "152 of 8,000 responses are missing, 120 of them in one run."),
        "resolution": _light("warn", "204 items: differences below 7 points cannot be seen."),
        "headroom": _light("firing", "Three models score above 97%: the task no longer tells them apart."),
        "trend": _light("ok", "No jump that is not explained by the metric."),
    }
    bare = fine | {
        "metric": _light("warn", "Accuracy only; no continuous twin is in the logs."),
        "comparable": _light("no-data", "The logs do not say which prompt was used."),
        "trend": _light("no-data", "3 of at least 4 ordered models."),
    }
    return [
        {"task": "arithmetic_add_4digit", "lights": fine},
        {"task": "lambada_openai", "lights": worn},
        {"task": f"mmlu_pro {HOSTILE['script']}", "lights": bare},
    ]


def _models() -> list[dict[str, Any]]:
    rows = []
    for i, name in enumerate(NAMES):
        value = [0.015, 0.006, 0.017, 0.020, 0.022, 0.717, 0.451, 0.687][i]
        rows.append(
            {
                "task": "arithmetic_add_4digit",
                "model": f"EleutherAI/pythia-{name}",
                "family": "pythia",
                "axis": "parameters",
                "x": SIZES[i],
                "metric": "exact_match",
                "unit": "fraction",
                "value": value,
                "low": max(0.0, value - 0.012),
                "high": value + 0.012,
                "level": 0.95,
                "n": 5000,
                "expected": 5000,
                "delivered": 5000 if i != 3 else 4880,
                "parsed": 4990,
                "unparsed_share": 0.002,
                "refused": 0,
                "error": 0 if i != 3 else 100,
                "missing": 0 if i != 3 else 20,
                "value_expected": value * (1 if i != 3 else 0.976),
                "harness_value": value,
                "status": "complete" if i != 3 else "partial",
                "replicates": 1,
                "note": None if i != 3 else "cancelled after 4,880 of 5,000 items",
            }
        )
    rows.append(
        {"task": "mmlu_pro", "model": HOSTILE["attribute"], "metric": "accuracy", "value": math.nan, "n": 12032}
    )
    return rows


def _runs() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "run_key": f"{i:016x}",
            "model": f"EleutherAI/pythia-{name}",
            "task": "arithmetic_add_4digit",
            "status": "complete",
            "created": f"2026-11-{i + 1:02d}T12:00:00Z",
            "format": "lm-eval",
            "writer": "0.4.7",
            "expected": 5000,
            "delivered": 5000,
            "parsed": 4990,
            "scored": 5000,
            "refused": 0,
            "error": 0,
            "missing": 0,
            "warnings": [],
        }
        for i, name in enumerate(NAMES)
    ]
    rows[3] |= {"status": "partial", "delivered": 4880, "error": 100, "missing": 20}
    rows[3] |= {"warnings": ["The log ends in the middle of a line; 4,980 of 5,000 rows were read.", HOSTILE["end"]]}
    rows.append(
        {"run_key": "ffff", "model": HOSTILE["hidden"], "task": HOSTILE["bidi"], "status": "error", "expected": None}
    )
    return rows


def hostile_finding() -> Finding:
    return Finding(
        code="FS101",
        subject=Subject(task=HOSTILE["script"], model=HOSTILE["attribute"]),
        state=State.PENDING,
        title=f"The harness and Foreshock disagree on {HOSTILE['end']}",
        effect=Effect(name=HOSTILE["markup"], unit=HOSTILE["attribute"], value=0.013, low=None, high=0.02),
        null=HOSTILE["jinja"],
        dummies=[Dummy(name="always alarm", value=0.5, gain=0.2)],
        evidence=[Evidence(run="a1", item=HOSTILE["attribute"], epoch=1, what=HOSTILE["ansi"])],
        evidence_total=1,
        alternatives=[Alternative(name=HOSTILE["bidi"], status="unchecked", why=HOSTILE["lines"])],
        advice=HOSTILE["markdown"],
    )


def document() -> Document:
    """The fixture."""
    real = judged(
        "arithmetic_add_4digit",
        "break",
        "4-digit addition jumps between 1.4B and 2.8B, and the log-probability of the right answer jumps with it",
        (0.84, 0.71, 0.93),
        advice="Treat the jump as real. Look at the items that moved; a model between 1.4B and 2.8B would place it.",
        evidence_total=143,
    )
    mirage = judged(
        "lambada_openai",
        "mirage",
        "LAMBADA accuracy jumps at 410M, while the log-probability of the last word rises steadily",
        (0.12, 0.02, 0.31),
        advice="Report log-probability beside accuracy; do not plan around this jump.",
    )
    smooth = judged("sciq", "smooth", "SciQ rises steadily with size", (0.04, 0.0, 0.19), advice="Nothing to do.")
    few = "fewer than 4 ordered models"
    twin = "no twin: only 0/1 scores are in the logs"
    rerun = "Run the evaluation again with --log_samples and log-probabilities."
    dumb = [
        unresolved("mmlu_pro", "llama", "models on one axis", 3, 4, "Add one more size of this family."),
        unresolved("gsm8k", "llama", "models on one axis", 2, 4, "Add two more sizes of this family."),
        unresolved("winogrande", "pythia", "a continuous score per item", 0, None, rerun),
        unresolved("piqa", "pythia", "a continuous score per item", 0, None, rerun),
        unresolved("word_sorting", "big-g", "items", 204, 1900, "Use at least 1,900 items."),
    ]
    hard = [0.015, 0.006, 0.017, 0.020, 0.022, 0.717, 0.451, 0.687]
    log = [-11.2, -10.9, -10.4, -10.1, -9.8, -1.9, -3.0, -1.7]
    ghost = [0.01, 0.012, 0.02, 0.05, 0.09, 0.22, 0.45, 0.687]
    rows = [
        series(real, "hard", "exact_match", hard, "fraction", 0.012, chance=0.0),
        series(real, "twin", "gold_logprob", log, "nats", 0.25),
        series(real, "counterfactual", "exact_match", ghost, "fraction", 0.0),
        series(mirage, "hard", "acc", [0.02, 0.03, 0.31, 0.45, 0.52, 0.58, 0.64, 0.68], "fraction", 0.014),
        series(mirage, "twin", "gold_logprob", [-5.1, -4.2, -3.3, -2.9, -2.6, -2.3, -1.9, -1.7], "nats", 0.11),
        series(smooth, "hard", "acc", [0.31, 0.42, 0.55, 0.63, 0.68, 0.74, 0.79, 0.83], "fraction", 0.02, chance=0.25),
        series(smooth, "twin", "brier", [0.61, 0.55, 0.47, 0.41, 0.38, 0.33, 0.28, 0.24], "", 0.01),
        series(dumb[0], "hard", "accuracy", [0.21, 0.26, 0.38], "fraction", 0.008, chance=0.1, axis_known=False),
    ]
    giant = "ab\x1b " * 250_000
    items = [moved(real, i) for i in range(140)]
    items.insert(0, moved(real, 999, item=HOSTILE["attribute"], from_output=giant, to_output=HOSTILE["end"]))
    items.insert(
        1, moved(real, 998, question=HOSTILE["ansi"], target=None, from_output="", to_output=None, to_score=None)
    )
    items.insert(2, moved(real, 997, to_output="پاسخ می\u200cشود ۵۲۳۴ 👩\u200d🔬", from_output=HOSTILE["bidi"]))
    findings = [*dumb, smooth, mirage, real, hostile_finding()]
    reasons = [few, few, twin, twin, "too few items to tell a jump from noise"]
    return Document(
        foreshock="0.1.0",
        command=["check", "logs/pythia", "--html", "report.html"],
        generated_at="2026-11-30T12:00:00Z",
        counts={
            "expected": 57032,
            "delivered": 56912,
            "parsed": 56790,
            "scored": 56912,
            "refused": 0,
            "error": 100,
            "missing": 20,
        },
        findings=findings,
        tables={
            "opening": [
                {"kind": "can", "text": "judge 3 series of 1 model family: they have 8 sizes and a twin", "do": None},
                {"kind": "can", "text": "compare 9 models on 3 tasks with intervals", "do": None},
                {"kind": "cannot", "text": "judge 2 tasks without a continuous score", "do": None},
                {"kind": "cannot", "text": "see differences below 7 points on word_sorting", "do": None},
                {
                    "kind": "needs",
                    "text": "log-probabilities of the answers for winogrande and piqa",
                    "do": "lm_eval --model hf --tasks winogrande,piqa --log_samples --output_path out",
                },
                {"kind": "needs", "text": "at least one more Llama size", "do": None},
            ],
            "trust": _trust(),
            "models": _models(),
            "series": rows,
            "verdicts": [
                verdict_row(real, None),
                verdict_row(mirage, None, twin="gold_logprob", emergence=math.inf, emergence_p=0.22),
                verdict_row(smooth, None, twin="brier", emergence=4.1, emergence_p=0.6),
                *(
                    verdict_row(f, reason, points=int(f.needs[0].have or 8), twin=None, link_gap=None, emergence=None)
                    for f, reason in zip(dumb, reasons, strict=True)
                ),
            ],
            "moved": items,
            "runs": _runs(),
            "failures": [
                {
                    "path": "logs/pythia/broken.eval",
                    "message": "the archive has no central directory; expected a whole .eval file; copy it again",
                },
                {"path": f"logs/{HOSTILE['end']}.json", "message": HOSTILE["ansi"]},
            ],
            "later": [{"a": HOSTILE["script"], "b": 1.5}, {"a": "plain", "b": None}],
        },
    )
