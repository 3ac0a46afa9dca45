"""What the metric names of well-known harnesses mean: kind, link, range and direction."""

from __future__ import annotations

import re
from typing import NamedTuple

from foreshock.metrics._spec import Kind, Link


class HarnessMetric(NamedTuple):
    """What a harness's metric is, as far as its name tells.

    Attributes:
        name: The name as listed here.
        kind: ``hard`` or ``continuous``; None when the name is used for both.
        link: How it hangs on what lies beneath; None when the name does not tell.
        low, high: Range in the harness's own scale; None is unbounded.
        higher_is_better: Direction; None when neither is better.
        attempts: Attempts of which one must succeed, where the name says so (``pass@10``).
    """

    name: str
    kind: Kind | None
    link: Link | None
    low: float | None
    high: float | None
    higher_is_better: bool | None
    attempts: int | None = None


# n-gram overlaps count as hard: an n-gram is right only when all of its n words are, and ROUGE-L jumps in simulations
# of a slowly improving model (arXiv:2304.15004, appendix A.4)
_TABLE: tuple[tuple[HarnessMetric, str], ...] = (
    (
        HarnessMetric("", "hard", "argmax", 0, 1, True),
        """acc acc_norm acc_bytes acc_mutual_info acc_all avg_acc multiple_choice_grade choice
        multiple_choice mc1 quasi_multiple_choice pairwise_accuracy pair-wise-accuracy""",
    ),
    (
        HarnessMetric("", "hard", "all-of-N", 0, 1, True),
        """exact_match em exact exact_str_match match quasi_exact_match prefix_exact_match
        quasi_prefix_exact_match strict_match flexible_extract pattern answer math math_equiv
        math_verify sequence_accuracy full_match prompt_level_strict_acc prompt_level_loose_acc resolved
        correct""",
    ),
    (
        HarnessMetric("", "hard", "any-of-T", 0, 1, True),
        "includes include contains",
    ),
    (
        HarnessMetric("", "hard", "threshold", 0, 1, True),
        """numeric_match_with_0_1_relative_error inst_level_strict_acc inst_level_loose_acc model_graded_qa
        model_graded_fact pass success""",
    ),
    (
        HarnessMetric("", "hard", None, 0, 1, True),
        """accuracy macro_f1 f1_macro micro_f1 sequence_f1 rouge2 rouge_2 rougeL rougeLsum rouge_l
        rouge_lsum""",
    ),
    (
        HarnessMetric("", "hard", None, -1, 1, True),
        "mcc",
    ),
    (
        HarnessMetric("", "hard", "all-of-N", 0, 100, True),
        "bleu sacrebleu chrf chrf++",
    ),
    (
        HarnessMetric("", "hard", "argmax", 0, 1, None),
        "pct_stereotype",
    ),
    (
        HarnessMetric("", "continuous", "identity", 0, 1, True),
        """mc2 correct_prob_mass choice_probability gold_probability probability likelihood rouge1 rouge_1
        anls token_f1 f1_score""",
    ),
    (
        HarnessMetric("", None, None, 0, 1, True),
        "f1",  # of tokens in reading tasks, of classes in GLUE
    ),
    (
        HarnessMetric("", "continuous", "identity", None, 0, True),
        "log_likelihood loglikelihood average_log_probability logprob",
    ),
    (
        HarnessMetric("", "continuous", "identity", 0, 2, False),
        "brier_score brier multiclass_brier",
    ),
    (
        HarnessMetric("", "continuous", "identity", 0, None, False),
        "bits_per_byte bits_per_character nll loss cross_entropy ter wer cer edit_distance mse mae rmse",
    ),
    (
        HarnessMetric("", "continuous", None, 1, None, False),
        "ppl perplexity word_perplexity byte_perplexity token_perplexity",
    ),
    (
        HarnessMetric("", "continuous", None, 0, 1, False),
        "ece ece_1_bin ece_10_bin calibration_error",
    ),
    (
        HarnessMetric("", "continuous", None, None, None, True),
        "bleurt",
    ),
    (
        HarnessMetric("", "continuous", None, 0, None, None),
        "likelihood_difference likelihood_diff",
    ),
)
_METRICS = [facts._replace(name=name) for facts, names in _TABLE for name in names.split()]
_FOLDED = {metric.name.casefold(): metric for metric in _METRICS}
_PASS = re.compile(r"(?:^|[^a-z])pass(?:@|_at_)(\d{1,6})$")
_ARGUMENTS = re.compile(r"\([^()]*\)\s*$")


def harness_metric(name: str) -> HarnessMetric | None:
    """What a harness's own metric is; None when its name is not known, in which case nothing is assumed.

    A filter (``acc,none``), a package (``inspect_ai/choice``), arguments (``model_graded_qa(partial_credit = TRUE)``)
    and case do not matter; of a scorer with several values (``scorer/key``) the key is tried first, then the scorer.

    Examples:
        >>> harness_metric("acc_norm,none").link, harness_metric("word_perplexity").higher_is_better
        ('argmax', False)
        >>> harness_metric("humaneval/pass@10").attempts, harness_metric("pass@1").link
        (10, 'threshold')
        >>> harness_metric("our_own_score") is None
        True
    """
    name = _ARGUMENTS.sub("", name.partition(",")[0]).strip().casefold()
    for part in (name, *reversed(name.split("/"))):
        if part in _FOLDED:
            return _FOLDED[part]
        if told := _PASS.search(part):
            attempts = int(told[1])
            return HarnessMetric(part, "hard", "any-of-T" if attempts > 1 else "threshold", 0, 1, True, attempts)
    return None
