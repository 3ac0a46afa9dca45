"""CPU seconds to score short pairs of answer and target on one core, beside the libraries that do the same.

    python benchmarks/score_pairs.py [--pairs 1000000] [--peer-pairs 3000] [--seed 1] [--write]

Pairs are 3-13 words of 2-9 letters (about 52 characters), 35% equal, none repeated on purpose: multiple-choice logs
repeat heavily and are faster. What is timed is `score_batch` over columns, statuses included; what takes less than a
second is done five times, of which the least counts, as its neighbours on the machine disturb it most. A peer runs in
the same process right after, in the same way, over the first ``--peer-pairs`` pairs, scaled linearly; where there is
none, a loop by hand runs over all pairs. Their values must be ours to 1e-9. The share of pairs without a score is
printed; it must be 0.
``--write`` records the table in ``benchmarks/results/score_pairs.md``.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein

from foreshock.metrics import get_metric, score_batch

Columns = Mapping[str, Sequence[Any]]
Values = list[float]
Peer = Callable[[str, str], float]

TEXT = (
    *("exact_match(normalise=none)", "exact_match", "char_similarity", "byte_similarity", "token_similarity"),
    *("word_error_rate", "token_f1", "rouge_1", "rouge_2", "rouge_l", "rouge_lsum", "rouge_l(stem=True)"),
    *("bleu", "corpus_bleu", "chrf", "chrf(word_order=2)"),
)
NUMBER = ("numeric_closeness", "position_accuracy")
CHOICE = ("multiple_choice_grade", "brier", "choice_probability", "choice_margin")
TARGETS = {
    "exact_match": 0.15,
    "char_similarity": 1.0,
    "token_similarity": 2.5,
    "rouge_l": 12,
    "bleu": 60,
    "chrf": 150,
}
PACKAGES = ("foreshock", "numpy", "rapidfuzz", "sacrebleu", "rouge-score", "nltk")


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


def by_hand(name: str) -> tuple[str, Peer] | None:
    """What the bare loop over pairs does, without statuses, targets in the plural or checks."""
    similarity = Levenshtein.normalized_similarity
    loops: dict[str, tuple[str, Peer]] = {
        "exact_match(normalise=none)": ("loop with ==", lambda a, t: float(a == t)),
        "exact_match": ("loop with strip", lambda a, t: float(a.strip() == t.strip())),
        "char_similarity": ("rapidfuzz", similarity),
        "byte_similarity": ("rapidfuzz", lambda a, t: similarity(a.encode(), t.encode())),
        "token_similarity": ("rapidfuzz", lambda a, t: similarity(a.split(), t.split())),
        "word_error_rate": ("rapidfuzz", lambda a, t: Levenshtein.distance(a.split(), t.split()) / len(t.split())),
        "token_f1": ("loop with Counter", f1_by_hand),
    }
    return loops.get(name)


def f1_by_hand(answer: str, target: str) -> float:
    """As in SQuAD's script, without its normalisation."""
    given, wanted = answer.split(), target.split()
    same = (Counter(given) & Counter(wanted)).total()
    if not same:
        return 0.0
    precision, recall = same / len(given), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


def peer(name: str) -> tuple[str, Peer] | None:
    """A library's own function."""
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    def rouge(kind: str, stem: bool = False) -> tuple[str, Peer]:
        scorer = RougeScorer([kind], use_stemmer=stem)
        return "rouge-score", lambda a, t: float(scorer.score(t, a)[kind].fmeasure)

    bleu, chrf, chrf2 = BLEU(effective_order=True), CHRF(), CHRF(word_order=2)
    return {
        "rouge_1": rouge("rouge1"),
        "rouge_2": rouge("rouge2"),
        "rouge_l": rouge("rougeL"),
        "rouge_lsum": rouge("rougeLsum"),
        "rouge_l(stem=True)": rouge("rougeL", True),
        "bleu": ("sacrebleu", lambda a, t: float(bleu.sentence_score(a, [t]).score)),
        "chrf": ("sacrebleu", lambda a, t: float(chrf.sentence_score(a, [t]).score)),
        "chrf(word_order=2)": ("sacrebleu", lambda a, t: float(chrf2.sentence_score(a, [t]).score)),
    }.get(name)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of ``work`` and what it gave."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU seconds of ``work`` over five runs; of one, where that takes more than a second."""
    spent, result = seconds(work)
    for _ in range(4 if spent <= 1 else 0):
        spent = min(spent, seconds(work)[0])
    return spent, result


def measure(name: str, columns: Columns, peer_pairs: int) -> str:
    """One row of the table."""
    pairs = len(columns["delivery"])
    spec = get_metric(name)
    spent, scores = least(lambda: score_batch(spec, columns))
    ours = spent * 1e6 / pairs
    beside = "– | – | –"
    found, few = peer(name), peer_pairs
    if found is None:
        found, few = by_hand(name), pairs
    if found is not None:
        other, function = found
        few = min(few, pairs)
        rows = list(zip(columns["answer"][:few], [ts[0] for ts in columns["targets"][:few]], strict=True))
        time_of_peer, values = least(lambda: [function(a, t) for a, t in rows])
        if any(abs(a - b) > 1e-9 for a, b in zip(values, scores.values, strict=False)):
            raise SystemExit(f"{name} does not give what {other} gives")
        theirs = time_of_peer * 1e6 / few
        beside = f"{other}, {few:,} pairs | {theirs:.2f} | {theirs / ours:.1f}"
    unscored = sum(v is None for v in scores.values) / pairs
    target = TARGETS.get(name)
    met = "–" if target is None else f"{target:g}: {'met' if ours <= target else 'missed'}"
    return f"| `{name}` | {ours:.2f} | {beside} | {met} | {unscored:.0%} |"


def loop() -> float:
    """CPU seconds of a fixed loop of plain Python: longer on a busy machine, as the other figures are."""
    return seconds(lambda: sum(range(10_000_000)))[0]


def conditions() -> str:
    """Date, commit and versions."""
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    told = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{datetime.date.today()}, commit {commit.stdout.strip()}, Python {platform.python_version()}, {told}."


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--peer-pairs", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="names with this in them")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    told = conditions()
    lines = [
        "| metric | CPU s per million | peer | its CPU s per million | ratio | target | without a score |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines))
    busy = [loop()]
    for make, names in ((texts, TEXT), (numbers, NUMBER), (choices, CHOICE)):
        columns = make(asked.pairs, random.Random(asked.seed))
        for name in names:
            if not asked.only or asked.only in name:
                lines.append(measure(name, columns, asked.peer_pairs))
                print(lines[-1], flush=True)
        busy.append(loop())
    note = f"A fixed loop of Python took {min(busy):.2f} to {max(busy):.2f} s beside it."
    print(note)
    if asked.write:
        place = Path(__file__).parent / "results" / "score_pairs.md"
        place.parent.mkdir(exist_ok=True)
        command = f"python benchmarks/score_pairs.py --pairs {asked.pairs} --seed {asked.seed}"
        command += f" --peer-pairs {asked.peer_pairs} --write"
        table = "\n".join(lines)
        place.write_text(f"# Scoring pairs\n\n`{command}`\n\n{told}\n{note}\n\n{table}\n", "utf-8")


if __name__ == "__main__":
    main()
