"""CPU seconds to score short pairs of answer and target on one core, beside the same work written by hand.

    python benchmarks/score_pairs.py [--pairs 1000000] [--seed 1] [--write]

Pairs are 3-13 words of 2-9 letters (about 52 characters), 35% equal, none repeated on purpose: multiple-choice logs
repeat heavily and are faster. The share of pairs without a score is printed; it must be 0. ``--write`` records the
table in ``benchmarks/results/score_pairs.md``.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein

from foreshock.metrics import get_metric, score_batch

Columns = Mapping[str, Sequence[Any]]
Values = list[float]

TEXT = ("exact_match(normalise=none)", "exact_match", "char_similarity", "token_similarity")
NUMBER = ("numeric_closeness", "position_accuracy")
CHOICE = ("multiple_choice_grade", "brier", "choice_probability", "choice_margin")


def texts(pairs: int, rng: random.Random) -> Columns:
    """Answers and targets."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(5_000)]
    answers = [" ".join(rng.choices(vocabulary, k=rng.randint(3, 13))) for _ in range(pairs)]
    # joined again, so that equal texts are not one object, which would make comparing them free
    targets = [" ".join(a.split() if rng.random() < 0.35 else rng.choices(vocabulary, k=8)) for a in answers]
    return {"answer": answers, "targets": [[t] for t in targets], "output": answers, "delivery": ["ok"] * pairs}


def numbers(pairs: int, rng: random.Random) -> Columns:
    """Answers of up to four digits with a thousands separator, and their targets."""
    targets = [[str(rng.randrange(10_000))] for _ in range(pairs)]
    answers = [f"{int(t):,}" if rng.random() < 0.35 else f"{rng.randrange(10_000):,}" for (t,) in targets]
    return {"answer": answers, "targets": targets, "output": answers, "delivery": ["ok"] * pairs}


def choices(pairs: int, rng: random.Random) -> Columns:
    """Log-likelihoods of four options."""
    logprobs = [[rng.gauss(-3, 1) for _ in range(4)] for _ in range(pairs)]
    return {"choice_logprobs": logprobs, "gold_index": [i % 4 for i in range(pairs)], "delivery": ["ok"] * pairs}


def by_hand(name: str) -> Callable[[Columns], Values] | None:
    """The bare loop over pairs, without statuses, targets in the plural or checks."""

    def over(function: Callable[[str, str], float]) -> Callable[[Columns], Values]:
        return lambda c: [function(a, t[0]) for a, t in zip(c["answer"], c["targets"], strict=True)]

    return {
        "exact_match(normalise=none)": over(lambda a, t: float(a == t)),
        "exact_match": over(lambda a, t: float(a.strip() == t.strip())),
        "char_similarity": over(Levenshtein.normalized_similarity),
        "token_similarity": over(lambda a, t: Levenshtein.normalized_similarity(a.split(), t.split())),
    }.get(name)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of ``work`` and what it gave."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def measure(name: str, columns: Columns) -> str:
    """One row of the table."""
    pairs = len(columns["delivery"])
    spec = get_metric(name)
    spent, scores = seconds(lambda: score_batch(spec, columns))
    hand = by_hand(name)
    beside = "–"
    if hand is not None:
        other, values = seconds(lambda: hand(columns))
        if values != scores.values:
            raise SystemExit(f"{name} does not give what the loop by hand gives")
        beside = f"{other * 1e6 / pairs:.2f}"
    unscored = sum(v is None for v in scores.values) / pairs
    return f"| `{name}` | {pairs:,} | {spent * 1e6 / pairs:.2f} | {beside} | {unscored:.0%} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    head = ["| metric | pairs | CPU s per million | by hand | without a score |", "| --- | --- | --- | --- | --- |"]
    rows = []
    for make, names in ((texts, TEXT), (numbers, NUMBER), (choices, CHOICE)):
        columns = make(asked.pairs, random.Random(asked.seed))
        rows += [measure(name, columns) for name in names]
    table = "\n".join([*head, *rows])
    print(table)
    if asked.write:
        place = Path(__file__).parent / "results" / "score_pairs.md"
        place.parent.mkdir(exist_ok=True)
        command = f"python benchmarks/score_pairs.py --pairs {asked.pairs} --seed {asked.seed}"
        place.write_text(f"# Scoring pairs\n\n`{command}`\n\n{table}\n", "utf-8")


if __name__ == "__main__":
    main()
