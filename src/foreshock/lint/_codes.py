"""The rules of this room: code, name, and what each means, in the words of its page."""

from __future__ import annotations

from typing import NamedTuple

from foreshock._base import ConfigError, nearest


class Rule(NamedTuple):
    """One rule.

    Attributes:
        code: ``FS201`` and the like.
        name: Short name, the verdict of its findings.
        title: What it is about, as the heading of its page.
        meaning: When it fires, and what it does not say.
        null: The null and its rate.
        advice: What to do.
    """

    code: str
    name: str
    title: str
    meaning: str
    null: str
    advice: str


RULES = (
    Rule(
        "FS201",
        "only-hard",
        "only hard metrics",
        "Every metric that is reported is all-or-nothing: it can stand still while what lies beneath it moves, "
        "and jump "
        "when that passes a threshold. It is `no-data` where the kind of a metric is not known.",
        "A comparison of what metrics declare, or are known for by their name; no chance enters.",
        "Report a continuous metric of the same responses beside them.",
    ),
    Rule(
        "FS202",
        "no-twin",
        "no twin",
        "No continuous metric can be read from the same responses, reported or not, so no jump of the hard "
        "metric can be "
        "told from the metric's own doing. A similarity that only ever is 0 or 1 here, because answers are a "
        "word long, is no twin. `weak-twin` (`pending`): the only twins are made of decoded text, which steps "
        "with the decoder.",
        "A list of what the responses hold; no chance enters. A twin must have a score on 95% of the items.",
        "Log what gives a twin before the next run; the finding says how with this harness.",
    ),
    Rule(
        "FS203",
        "too-few-items",
        "too few items",
        "The items cannot show the difference that matters (`--difference`) in 4 of 5 cases. It is `firing` when they "
        "could not however the answers of two models go together, and `pending` when it depends on that, or lies "
        "within what is not known about it. The score of n right-or-wrong items moves in steps of 1/n.",
        "The paired test of two models on the same items at 5%, power 80% (Connor 1987). Before any run the share of "
        "items that flip is between the difference itself and one half; from stored scores it is measured, as the "
        "median over neighbouring models, with a 95% interval over items.",
        "Add items, or state the smallest difference that would matter to you.",
    ),
    Rule(
        "FS204",
        "too-few-models",
        "too few models",
        "A line of models is too short to show a step that carries 80% of its rise. It is `firing` below 4 "
        "models, where "
        "no verdict on a jump exists, and `pending` when the step would be found in fewer than 4 of 5 cases.",
        "One-sided t test of one interval's rise beyond twice the mean slope and a quarter of the rise, "
        "Bonferroni over "
        "the intervals, at 5%. The scatter of models about their trend is assumed (`--scatter`, a share of the "
        "rise) and printed. The exchangeable unit is the model.",
        "Run models or checkpoints between those that there are.",
    ),
    Rule(
        "FS205",
        "too-few-repeats",
        "too few repeats or seeds",
        "`repeats`: replies are drawn at random and each item was asked once, so chance in the replies cannot be told "
        "from the choice of items; or a pass@k has fewer than k attempts; or chance in the replies adds more variance "
        "than the items do (`pending`). `seeds`: every place of a line has one training seed and fewer than 6 models, "
        "so the noise between models is hardly measured (`pending`).",
        "Arithmetic of the design; with stored repeats, a comparison of two variances without a test, hence `pending` "
        "at most.",
        "Ask each item several times, or turn sampling off; train or run further seeds.",
    ),
    Rule(
        "FS206",
        "chance-undeclared",
        "score of guessing undeclared",
        "A hard metric may be guessed and nothing says which score guessing gives: the items have different numbers of "
        "options, or the metric is not known. A score at chance then looks like ability, and every link that starts at "
        "chance starts at 0.",
        "A fact of the design; no chance enters.",
        "Declare it: `chance` in benchmark.toml, in a metric of your own, or `--chance` beside a table.",
    ),
    Rule(
        "FS207",
        "scale-gap",
        "a gap between models hides a step",
        "Between two neighbouring models lies so much of the axis that a step carrying 80% of the rise could "
        "stand there "
        "and pass for a slope, whatever the number of items: a smooth curve may rise at twice its mean slope.",
        "Geometry of the places on the axis; no noise and no chance enters. A gap of the share w of the axis hides a "
        "step that carries up to w / (1 - w) of the rise.",
        "Run models in the gap; the finding names sizes.",
    ),
    Rule(
        "FS208",
        "ceiling-unknown",
        "label-noise ceiling unknown",
        "Nothing says how many labels are wrong, so nothing says which score a perfect model would get. It is `firing` "
        "when the best model has used up more than half of the scale above guessing, `pending` before. "
        "`above-ceiling`: a model stands above the ceiling that was declared: the labels were learnt, or the audit is "
        "wrong.",
        "A fact of the design. The labels to check are those that, if all are right, put the share of wrong ones below "
        "what is left above the best model, by the exact binomial bound at 95%; `above-ceiling` fires when a 95% "
        "interval of the score lies above that of the ceiling.",
        "Have a sample of labels checked and declare the result: `labels` in benchmark.toml.",
    ),
    Rule(
        "FS209",
        "denominators-differ",
        "denominators differ between runs",
        "Runs of one task under the same conditions have different numbers of scored responses, or expected different "
        "numbers, so their scores are not over the same items. It is `firing` when those that only some runs have "
        "could move a score by more than its margin of error, `pending` below that.",
        "Arithmetic on the counts of the logs; no chance enters. The margin is 95%, for the worst case of half right.",
        "Run the missing items, or compare over shared items (`foreshock compare` does).",
    ),
    Rule(
        "FS210",
        "kind-misdeclared",
        "a metric is not of the kind that it declares",
        "Measured, not read: outputs are moved evenly from the right answer to a wrong one, one character or a "
        "small part "
        "of the number or of the log-odds at a time, and the metric is asked at each step. It is sharp on an item "
        "when a quarter of the way carries more than half of the change. `acts-hard`: declared continuous and sharp on "
        "most items, or only ever 0 or 1 in the store. `acts-continuous`: declared hard and gradual on most items.",
        "The null is that at most half of the items are of the other kind; it is rejected by the exact binomial "
        "(Clopper-Pearson) interval at 95%, so at most 2.5% of metrics that are what they declare are flagged. For "
        "stored values it is that at least 5% of them lie between the ends. The exchangeable unit is the item.",
        "Correct `kind` where the metric is declared, or do not use it as a twin.",
    ),
    Rule(
        "FS250",
        "blind",
        "a metric is blind to a degradation",
        "On stored outputs degradations of known size were planted (`--blind`), and the score did not fall "
        "where it should "
        "have. A scorer that looks at truth alone is blind to a dropped fact by design; the finding says what "
        "the metric "
        "cannot be used for.",
        "See the page: each degradation is held against the same scorer's reaction to no change and to a "
        "harmless edit.",
        "Report a metric beside it that sees the degradation; the table shows which of those tried does.",
    ),
)
"""What `lint` looks for, in the order of the codes."""

CODES = tuple(rule.code for rule in RULES)
"""Codes of this room: design of metrics and benchmarks."""

_BY_CODE = {rule.code: rule for rule in RULES}


def rule(code: str) -> Rule:
    """The rule with this code."""
    return _BY_CODE[code]


def explain(code: str) -> str:
    """What a code means, which null it is held against, and what to do, as text.

    Raises:
        ConfigError: No rule of this room has the code.

    Examples:
        >>> explain("fs207").splitlines()[0]
        'FS207 scale-gap: a gap between models hides a step'
    """
    found = next((one for one in RULES if code.casefold() in (one.code.casefold(), one.name)), None)
    if found is None:
        near = nearest(code, [*CODES, *(one.name for one in RULES)])
        raise ConfigError(
            f"lint has no rule {code!r:.80}",
            expected=f"one of {', '.join(CODES)}",
            do=f"did you mean {near[0]}?" if near else "see docs/codes for the codes of other commands",
        )
    parts = ("Meaning", found.meaning), ("Null and rate", found.null), ("What to do", found.advice)
    told = "\n".join(f"\n{head}\n  {text}" for head, text in parts)
    return f"{found.code} {found.name}: {found.title}\n{told}"
