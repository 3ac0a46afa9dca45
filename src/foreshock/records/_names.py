"""What a model's name says about the model; everything found here is marked as a guess.

Conventions read: ``EleutherAI/pythia-1.4b`` with ``revision=step143000``; ``Llama-2-70b-hf``; ``Meta-Llama-3_1-8B``;
``Qwen3-80B-A3B`` (total and active parameters); ``Mixtral-8x7B``; ``ollama/qwen2.5:0.5b``; ``vllm/out/ckpt-3000``;
``gpt-4o-2024-08-06``; ``add-w64-s1`` (width and seed).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from foreshock._base import ConfigError
from foreshock.records._card import ModelCard

PROVIDERS = frozenset(
    {
        "anthropic",
        "azure",
        "azureai",
        "bedrock",
        "cohere",
        "deepseek",
        "fireworks",
        "google",
        "grok",
        "groq",
        "hf",
        "huggingface",
        "litellm",
        "llama-cpp-python",
        "local",
        "mistral",
        "mockllm",
        "ollama",
        "openai",
        "openai-api",
        "openrouter",
        "perplexity",
        "sglang",
        "together",
        "transformer_lens",
        "vertex",
        "vllm",
    }
)
"""Inspect's provider prefixes and the like: they say how a model was reached, not what it is."""

_SEEN = 300
_UNITS = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_NUMBER = r"(\d+(?:\.\d+)?)"
_SIZE = re.compile(rf"(?<![a-z0-9.]){_NUMBER}([kmbt])(?![a-z0-9])", re.I)
_EXPERTS = re.compile(rf"(?<![a-z0-9.])(\d+)x{_NUMBER}([mb])(?![a-z0-9])", re.I)
_ACTIVE = re.compile(rf"(?<![a-z0-9.])a{_NUMBER}([mb])(?![a-z0-9])", re.I)
_TOKENS = re.compile(rf"(?<![a-z0-9.]){_NUMBER}([mbt])[-_ ]?tok(?:en)?s?(?![a-z])", re.I)
_STEP = re.compile(r"(?<![a-z])(?:global[-_]?step|step|ckpt|checkpoint|iter)s?[-_ =]?(\d+)(k?)(?![a-z0-9])", re.I)
_SEED = re.compile(r"(?<![a-z0-9])(?:seed[-_]?|s)(\d{1,5})(?![a-z0-9])", re.I)
_SHAPE = re.compile(r"(?<![a-z0-9])(?:w|d|l|h|width|depth|layers?|heads?)(\d+)(?![a-z0-9])", re.I)
_DATE = re.compile(r"(?<!\d)(20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")
_POST = re.compile(r"(?<![a-z])(instruct|chat|it|sft|dpo|rlhf|distill|think(?:ing)?|reasoning)(?![a-z])", re.I)
_NOISE = re.compile(r"(?<![a-z0-9])(hf|gguf|awq|gptq|fp8|fp16|bf16|int4|int8|latest|preview|base)(?![a-z0-9])", re.I)


class _Cut(NamedTuple):
    """A name with what was recognised cut out of it."""

    rest: str
    found: dict[str, Any]


def parse_model(name: str, step_pattern: str | None = None) -> ModelCard:
    """Guess a model card from a model's name, provider path, or lm-eval ``model_args``.

    Args:
        name: The model as the log names it.
        step_pattern: A regular expression with one group that finds the training step in names that follow no known
            convention (``--step 'ckpt-(\\d+)'``). It sees the last 300 characters of a name, since the name is a
            stranger's and the time may grow with a power of its length. A repetition of a repetition, ``(a+)+``, can
            take for ever even so: do not write one.

    Returns:
        A card whose every field is listed in ``guesses``. Fields that the name says nothing about are None.

    Raises:
        ConfigError: ``step_pattern`` is not a regular expression with one group.

    Examples:
        >>> card = parse_model("pretrained=EleutherAI/pythia-1.4b,revision=step143000")
        >>> card.family, card.organisation, card.parameters, card.step
        ('pythia', 'EleutherAI', 1400000000.0, 143000)
        >>> parse_model("EleutherAI/pythia-1.4b@step512").step
        512
        >>> parse_model("Meta-Llama-3_1-8B").family
        'meta-llama-3.1'
        >>> parse_model("Qwen/Qwen3-Next-80B-A3B-Instruct").active_parameters
        3000000000.0
    """
    found: dict[str, Any] = {}
    if step_pattern is not None and (match := _own_step(name, step_pattern)) is not None:
        found["step"] = int(match.group(1))
        # left in, it would give every checkpoint a family of its own
        name = name[: match.start()] + name[match.end() :]
    path, revision = _split_arguments(name)
    parts = [part for part in path.replace(":", "-").split("/") if part]
    while len(parts) > 1 and parts[0].lower() in PROVIDERS:
        parts.pop(0)
    stem, organisation = _stem(parts)
    cut = _recognise(re.sub(r"(?<=\d)_(?=\d)", ".", stem))
    found = {**cut.found, **_revision(revision), **found}
    family = re.sub(r"[-_. ]*[-_ ][-_. ]*", "-", cut.rest).strip("-_. ").lower()
    if family:
        found["family"] = family
    if organisation:
        found["organisation"] = organisation
    return ModelCard(name=None, guesses=sorted(found), **found)


def _split_arguments(name: str) -> tuple[str, str | None]:
    """Take model and revision out of ``pretrained=a/b,revision=c`` or ``a/b@c``; other arguments name no model."""
    if "=" not in name:
        path, _, tag = name.partition("@")
        return path, tag or None
    pairs = dict(part.split("=", 1) for part in name.split(",") if "=" in part)
    model = pairs.get("pretrained") or pairs.get("model") or pairs.get("engine") or pairs.get("path")
    return (model if model else name.split(",", maxsplit=1)[0]), pairs.get("revision")


def _own_step(name: str, pattern: str) -> re.Match[str] | None:
    try:
        match = re.compile(pattern).search(name, max(0, len(name) - _SEEN))
        if match is not None:
            int(match.group(1))
        return match
    except (re.error, IndexError, TypeError, ValueError) as error:
        raise ConfigError(
            f"--step {pattern!r} does not find a whole number ({error})",
            expected="a regular expression with one group of digits",
            do=r"for example --step 'ckpt-(\d+)'",
        ) from None


def _stem(parts: list[str]) -> tuple[str, str | None]:
    """The component that names the model (with its checkpoint) and the organisation before it."""
    if not parts:
        return "", None
    stem, before = parts[-1], parts[:-1]
    if before and not re.sub(_STEP, "", stem).strip("-_. "):  # a bare checkpoint: its folder names the model
        stem = f"{before[-1]}-{stem}"
        before = before[:-1]
    return stem, before[-1] if len(before) == 1 else None


def _revision(revision: str | None) -> dict[str, Any]:
    if revision is None or revision == "main":
        return {}
    return _recognise(revision).found


def _recognise(text: str) -> _Cut:
    """Cut every convention out of ``text`` in an order in which longer ones win."""
    found: dict[str, Any] = {}

    def take(pattern: re.Pattern[str]) -> re.Match[str] | None:
        nonlocal text
        match = pattern.search(text)
        if match:
            text = text[: match.start()] + "-" + text[match.end() :]
        return match

    if m := take(_DATE):
        found["released"] = "-".join(m.groups())
    if m := take(_TOKENS):
        found["tokens"] = _amount(*m.groups())
    if m := take(_STEP):
        found["step"] = int(m.group(1)) * (1000 if m.group(2) else 1)
    if m := take(_EXPERTS):  # nominal: shared layers make the true total smaller
        found["parameters"] = int(m.group(1)) * _amount(m.group(2), m.group(3))
        found["architecture"] = "mixture of experts"
    if m := take(_ACTIVE):
        found["active_parameters"] = _amount(*m.groups())
        found["architecture"] = "mixture of experts"
    if m := take(_SIZE):
        found["parameters"] = _amount(*m.groups())
    if m := take(_SEED):
        found["seed"] = int(m.group(1))
    if m := take(_POST):
        word = m.group(1).lower()
        found["post_training"] = "instruct" if word == "it" else word
    while take(_SHAPE) or take(_NOISE):
        pass
    return _Cut(text, found)


def _amount(number: str, unit: str) -> float:
    return float(number) * _UNITS[unit.lower()]
