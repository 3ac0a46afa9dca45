"""Test cases of deepeval turned into items, responses, steps and scores."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from foreshock.readers._lm_eval_line import finite
from foreshock.readers._plain import Problems, mapping
from foreshock.readers._replies import Asked, Marked, Reply, ReplyRows, Step, listed, plain, text_of, whole_number
from foreshock.records import Delivery, ScoreStatus, item_key

SUCCESS = "success"
"""Name of deepeval's verdict on a whole test case, beside those of its metrics."""


class Metric(msgspec.Struct, frozen=True):
    """What one metric said about one test case."""

    name: str
    score: float | None
    success: bool | None
    error: str | None
    reason: str | None
    threshold: float | None
    strict: bool | None
    judge: str | None


def case_decoder() -> msgspec.json.Decoder[dict[str, Any]]:
    """Decoder of test cases; their members may be anything, for they are a stranger's."""
    return msgspec.json.Decoder(dict[str, Any])


def either(case: dict[str, Any], camel: str) -> Any:
    """A member by its name in JSON or, when that is not there, by its name in Python.

    Examples:
        >>> either({"actual_output": "4"}, "actualOutput")
        '4'
    """
    if case.get(camel) is not None:
        return case[camel]
    return case.get("".join("_" + c.lower() if c.isupper() else c for c in camel))


def metrics_of(case: dict[str, Any]) -> list[Metric]:
    """The metrics of a test case."""
    found = []
    for metric in map(mapping, listed(either(case, "metricsData"))):
        name = text_of(metric.get("name")) or text_of(metric.get("metric"))
        if name is None:
            continue
        success, strict, threshold = metric.get("success"), either(metric, "strictMode"), metric.get("threshold")
        found.append(
            Metric(
                name=name,
                score=finite(metric.get("score")),
                success=success if isinstance(success, bool) else None,
                error=text_of(metric.get("error")),
                reason=text_of(metric.get("reason")),
                threshold=finite(threshold),
                strict=strict if isinstance(strict, bool) else None,
                judge=text_of(either(metric, "evaluationModel")),
            )
        )
    return found


class CaseRows(ReplyRows):
    """Builds the batches of one test run."""

    def __init__(self, bad: Problems) -> None:
        super().__init__(bad)
        self._times: Counter[str] = Counter()

    def take(self, case: dict[str, Any]) -> int:
        """Add one test case; returns the size of its texts."""
        turns = [mapping(t) for t in listed(case.get("turns"))]
        item = _asked(case, turns)
        name = text_of(case.get("name")) or item.key or f"test case {self.responses + 1}"
        metrics = metrics_of(case)
        self._times[item.key or name] += 1
        output = _said(turns) if turns else plain(either(case, "actualOutput"))
        reply = Reply(
            epoch=self._times[item.key or name],
            delivery=Delivery.MISSING if output is None else Delivery.OK,
            output=output,
            input_tokens=whole_number(either(case, "inputTokenCount")),
            output_tokens=whole_number(either(case, "outputTokenCount")),
            seconds=finite(either(case, "completionTime")),
            meta=_meta(case, metrics),
        )
        number = self.reply(self.ask(name, item), item, reply, _steps(case, turns))
        self.mark(number, _marks(case, metrics, delivered=output is not None))
        return len(output or "") + len(item.question or "")


def _asked(case: dict[str, Any], turns: list[dict[str, Any]]) -> Asked:
    if turns or "scenario" in case:
        first = next((plain(t.get("content")) for t in turns if t.get("role") == "user"), None)
        question, target = text_of(case.get("scenario")) or first, plain(either(case, "expectedOutcome"))
    else:
        question, target = plain(case.get("input")), plain(either(case, "expectedOutput"))
    targets = [target] if target is not None else None
    return Asked(item_key(question, (), targets or ()), question, None, targets)


def _said(turns: list[dict[str, Any]]) -> str | None:
    """What the assistant said last."""
    return next((plain(t.get("content")) for t in reversed(turns) if t.get("role") == "assistant"), None)


def _steps(case: dict[str, Any], turns: list[dict[str, Any]]) -> list[Step]:
    if not turns:
        return [_tool(mapping(call), 0) for call in listed(either(case, "toolsCalled"))]
    steps, turn = [], -1
    for told in turns:
        if told.get("role") != "assistant":
            continue
        turn += 1
        said = plain(told.get("content")) or ""
        steps += [_tool(mapping(call), turn) for call in listed(either(told, "toolsCalled"))]
        steps.append(Step(turn, "turn", "assistant", None, len(said), "characters"))
    return steps


def _tool(call: dict[str, Any], turn: int) -> Step:
    return Step(turn, "tool", text_of(call.get("name")), value=plain(either(call, "inputParameters")))


def _marks(case: dict[str, Any], metrics: list[Metric], *, delivered: bool) -> list[Marked]:
    """Scores of the metrics, then the verdict on the case; a metric that failed has no score, whatever it says."""
    found: list[Marked] = []
    seen: Counter[str] = Counter()
    for metric in metrics:
        seen[metric.name] += 1
        # the same metric twice, with other criteria: both are kept apart
        name = metric.name if seen[metric.name] == 1 else f"{metric.name} #{seen[metric.name]}"
        passed = None if metric.success is None else "pass" if metric.success else "fail"
        if metric.error is not None or metric.score is None:
            found.append(Marked(name, None, metric.error or passed, ScoreStatus.FAILED))
        else:
            found.append(Marked(name, metric.score, passed))
    verdict = case.get("success")
    if isinstance(verdict, bool) and delivered and all(m.value is not None for m in found):
        found.append(Marked(SUCCESS, float(verdict)))
    return found


def _meta(case: dict[str, Any], metrics: list[Metric]) -> dict[str, Any]:
    return {
        "order": case.get("order"),
        "tags": case.get("tags"),
        "metadata": case.get("metadata"),
        "comments": case.get("comments"),
        "cost": either(case, "tokenCost"),
        "evaluation_cost": either(case, "evaluationCost"),
        "retrieval_context": either(case, "retrievalContext"),
        "context": case.get("context"),
        "reasons": {m.name: m.reason for m in metrics if m.reason},
    }
