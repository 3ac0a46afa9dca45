"""The events of one sample of an OpenAI evals recording, as responses with their scores."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from foreshock.readers._plain import Json, mapping, number, objects, texts, whole, words, written
from foreshock.records import Delivery, ScoreStatus, item_key

INVALID = "__invalid__"
_MAX_VALUE = 500
_KNOWN = ("match", "sampling", "metrics", "error", "cond_logp", "pick_option")


class Event(NamedTuple):
    """What was recorded: the type and its data."""

    type: str
    data: Json


class Score(NamedTuple):
    """One value of the harness; see the columns of the scores table."""

    metric: str
    value: float | None
    status: ScoreStatus
    label: str | None


class Item(NamedTuple):
    """See the columns of the items table."""

    key: str | None
    question: str | None
    choices: list[str] | None
    targets: list[str]
    gold: int | None


class Answered(NamedTuple):
    """One response; see the columns of the responses table."""

    delivery: Delivery
    output: str | None
    answer: str | None
    scores: list[Score]
    meta: Json


class Sample(NamedTuple):
    """Everything that the events of one sample say."""

    item: Item
    prompt: str | None
    responses: list[Answered]
    likelihoods: list[float] | None
    gold_logprob: float | None
    usage: Json
    steps: list[tuple[str, str | None, str | None]]


def sample_of(events: list[Event], judged: bool) -> Sample:
    """Put the events of one sample together.

    Every match is a response of its own when there are several; otherwise the one response has the text that was
    matched, else that of the last sampling. When a model is the judge, its sampling is the last one and no reply.
    """
    by: dict[str, list[Json]] = {kind: [e.data for e in events if e.type == kind] for kind in _KNOWN}
    matches, metrics = by["match"], by["metrics"]
    samplings, verdict = by["sampling"], None
    if judged and metrics and len(samplings) > 1:
        samplings, verdict = samplings[:-1], samplings[-1]
    item, prompt = _item(by, samplings)
    replies = _replies(samplings, matches, by["pick_option"])
    extra: Json = {"events": dict(Counter(e.type for e in events if e.type not in _KNOWN))}
    if verdict is not None:
        extra["judgement"] = (_texts(verdict)[-1:] or [""])[0][:_MAX_VALUE]
    if len(samplings) > 1:
        extra["samplings"] = len(samplings)
    failed = by["error"][-1] if by["error"] else None
    if failed is not None:
        said = [p for p in map(written, (failed.get("type"), failed.get("message"))) if p]
        extra["error"] = " ".join(said)[:_MAX_VALUE]
    named = [_scores(matches[k : k + 1], metrics if k == 0 else []) for k in range(len(replies))]
    picked = by["pick_option"][-1].get("picked") if by["pick_option"] else None
    responses = [
        Answered(
            delivery=_delivery(reply, scores, failed is not None),
            output=reply,
            answer=words((matches[k].get("picked") if k < len(matches) else None) or picked),
            scores=scores,
            meta=extra if k == 0 else {},
        )
        for k, (reply, scores) in enumerate(zip(replies, named, strict=True))
    ]
    likelihoods, gold = _likelihoods(by["cond_logp"], item)
    usage = mapping(samplings[-1].get("usage")) if samplings else {}
    steps = [s for e in events if len(events) > 2 and (s := _step(e)) is not None]
    return Sample(item, prompt, responses, likelihoods, gold, usage, steps)


def _replies(samplings: list[Json], matches: list[Json], picks: list[Json]) -> list[str | None]:
    """The text of every response."""
    found: list[str | None]
    if len(matches) > 1:
        spoken = [t for s in samplings for t in _texts(s)]
        known = [words(m.get("sampled")) for m in matches]
        return [t or (spoken[k] if k < len(spoken) else None) for k, t in enumerate(known)]
    if matches and isinstance(matches[0].get("sampled"), str):
        return [matches[0]["sampled"]]
    found = [*_texts(samplings[-1])] if samplings else []
    if not found and picks:
        found = [written(picks[-1].get("picked"))]
    return found or [None]


def _texts(sampling: Json) -> list[str]:
    return texts(sampling.get("sampled")) if sampling.get("sampled") is not None else []


def _delivery(reply: str | None, scores: list[Score], failed: bool) -> Delivery:
    if failed and not scores:
        return Delivery.ERROR
    # a score without a text is of something else than text
    return Delivery.OK if reply is not None or scores else Delivery.MISSING


def _item(by: dict[str, list[Json]], samplings: list[Json]) -> tuple[Item, str | None]:
    asked = next((d["prompt"] for d in (*samplings, *by["cond_logp"], *by["pick_option"]) if d.get("prompt")), None)
    expected = next((d["expected"] for d in by["match"] if d.get("expected") is not None), None)
    targets = [t for t in map(written, expected if isinstance(expected, list) else [expected]) if t is not None]
    options = next((d["options"] for d in (*by["pick_option"], *by["match"]) if d.get("options")), None)
    weighed = [c for d in by["cond_logp"] for c in texts(d.get("completion"))]
    offered = texts(options) if isinstance(options, list) else list(dict.fromkeys(weighed))
    # where a task declares no options, the expected answers are logged as such
    choices = offered if len(offered) > 1 and offered != targets else None
    gold = [choices.index(t) for t in targets if t in choices] if choices else []
    question = question_of(asked)
    key = item_key(question, choices or (), targets)
    return Item(key, question, choices, targets, gold[0] if len(gold) == 1 else None), written(asked)


def question_of(asked: Any) -> str | None:
    """The question of a prompt: a text, or messages without the examples; the only message of the user stands alone."""
    if not isinstance(asked, list):
        return words(asked)
    said = [m for m in objects(asked) if not str(m.get("name") or "").startswith("example_")]
    users = [m for m in said if m.get("role") == "user"]
    parts = [written(m.get("content")) for m in (users if len(users) == 1 and len(said) <= 2 else said)]
    return "\n".join(p for p in parts if p) or "\n".join(texts(asked)) or None


def _scores(matches: list[Json], metrics: list[Json]) -> list[Score]:
    found: dict[str, Score] = {}
    for match in matches:
        value = _value(match.get("correct"))
        if value is not None:
            found["accuracy"] = Score("accuracy", value, ScoreStatus.SCORED, None)
    for data in metrics:
        label = words(data.get("choice"))
        for name, given in data.items():
            score = _measured(name, given, label)
            if score is None or (name in found and found[name].value == score.value):
                continue
            known = name if name not in found else f"metrics/{name}"
            found[known] = score._replace(metric=known)
    return list(found.values())


def _measured(name: str, given: Any, label: str | None) -> Score | None:
    """A number; a word that stands for a value which only the task's own file knows is kept as a label."""
    value = _value(given)
    if value is not None:
        return Score(name, value, ScoreStatus.SCORED, label if name == "score" else None)
    if label == INVALID and name in ("score", "choice"):
        return Score(name, None, ScoreStatus.UNPARSED, label)
    if name == "choice" and label is not None:
        return Score(name, None, ScoreStatus.NEEDS, label[:_MAX_VALUE])
    if given is None or isinstance(given, float):
        return Score(name, None, ScoreStatus.FAILED, None)
    return None


def _value(given: Any) -> float | None:
    return float(given) if isinstance(given, bool) else number(given)


def _likelihoods(asked: list[Json], item: Item) -> tuple[list[float] | None, float | None]:
    """Log-likelihoods of the choices in order, and of the expected answer."""
    known: dict[str, float] = {}
    for data in asked:
        completion, logp = words(data.get("completion")), number(data.get("logp"))
        if completion is not None and logp is not None:
            known.setdefault(completion, logp)
    gold = next((known[t] for t in item.targets if t in known), None)
    if len(asked) == 1 and not item.targets and known:
        gold = next(iter(known.values()))
    if item.choices and all(c in known for c in item.choices):
        return [known[c] for c in item.choices], gold
    return None, gold


def _step(event: Event) -> tuple[str, str | None, str | None] | None:
    data = event.data
    if event.type == "sampling":
        return "turn", None, next(reversed(_texts(data)), None)
    if event.type == "function_call":
        return "tool", words(data.get("name")), written(data.get("arguments"))
    return ("error", None, written(data.get("message"))) if event.type == "error" else None


def tokens_of(usage: Json) -> tuple[int | None, int | None, int | None, int | None]:
    """Tokens read, written, of reasoning and in all."""
    details = mapping(usage.get("completion_tokens_details"))
    read, wrote, total = (usage.get(k) for k in ("prompt_tokens", "completion_tokens", "total_tokens"))
    return whole(read), whole(wrote), whole(details.get("reasoning_tokens")), whole(total)
