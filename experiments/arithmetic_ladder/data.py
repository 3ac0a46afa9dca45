"""Training batches: a pure function of (run, step), so that a resumed run sees what an unbroken one would."""

from __future__ import annotations

import numpy as np

from .problems import Ints, Problems, answer_tokens, concatenate, held_out_keys, prompt_tokens

CONTROLS = ("shuffled", "random-labels", "little-data", "hidden-low")
LITTLE = 256  # training problems of `little-data` and `random-labels`, half of them products
_HELD_OUT = held_out_keys()


def draw(rng: np.random.Generator, n_sums: int, n_products: int) -> Problems:
    """Sums of 1-4 digits (half of them 4 + 4 digits) and products of 1-2 digits; none is held out."""
    found: list[Problems] = []
    sums, products = n_sums, n_products
    while sums or products:
        batch = concatenate([_sums(rng, sums), _products(rng, products)])
        keys = batch.keys()
        at = np.minimum(np.searchsorted(_HELD_OUT, keys), len(_HELD_OUT) - 1)
        kept = batch.take(_HELD_OUT[at] != keys)
        sums -= int(np.sum(~kept.product))
        products -= int(np.sum(kept.product))
        found.append(kept)
    return concatenate(found)


def _sums(rng: np.random.Generator, n: int) -> Problems:
    lengths = rng.integers(1, 5, (2, n))
    lengths[:, rng.random(n) < 0.5] = 4
    low = np.where(lengths == 1, 0, 10 ** (lengths - 1))
    a, b = rng.integers(low, 10**lengths)
    return Problems(a, b, np.zeros(n, dtype=bool))


def _products(rng: np.random.Generator, n: int) -> Problems:
    a, b = rng.integers(0, 100, (2, n))
    return Problems(a, b, np.ones(n, dtype=bool))


def batch(kind: str, seed: int, step: int, n_sums: int, n_products: int) -> Ints:
    """Token rows of one training step.

    Args:
        kind: ``learn`` or one of ``CONTROLS``.
        seed: the run's data seed.
        step: training step, from 0.
        n_sums: sums in the batch.
        n_products: products in the batch.

    Returns:
        int64 array of shape ``[n_sums + n_products, PROMPT + ANSWER]``.
    """
    rng = np.random.default_rng([seed, 1, step])
    if kind in ("little-data", "random-labels"):
        fixed = draw(np.random.default_rng([seed, 2]), LITTLE // 2, LITTLE // 2)
        chosen = np.concatenate([_pick(rng, ~fixed.product, n_sums), _pick(rng, fixed.product, n_products)])
        answers = fixed.answers()
        if kind == "random-labels":
            answers = shuffle_within(np.random.default_rng([seed, 3]), fixed, answers)
        problems, answers = fixed.take(chosen), answers[chosen]
    else:
        problems = draw(rng, n_sums, n_products)
        answers = problems.answers()
    if kind == "shuffled":
        answers = shuffle_within(rng, problems, answers)
    if kind == "hidden-low":
        problems = hide_low(rng, problems)
    return np.concatenate([prompt_tokens(problems), answer_tokens(answers)], axis=1)


def _pick(rng: np.random.Generator, mask: np.ndarray, n: int) -> Ints:
    return rng.choice(np.flatnonzero(mask), n)


def shuffle_within(rng: np.random.Generator, problems: Problems, answers: Ints) -> Ints:
    """Answers permuted among the sums and among the products: right marginals, no relation to the prompt."""
    out = answers.copy()
    for mask in (problems.product, ~problems.product):
        out[mask] = rng.permutation(answers[mask])
    return out


def hide_low(rng: np.random.Generator, problems: Problems) -> Problems:
    """Low digits of the operands redrawn after the answer is known: two of a sum's, one of a product's."""
    cut = np.where(problems.product, 10, 100)
    a, b = (v // cut * cut + rng.integers(0, cut) for v in (problems.a, problems.b))
    return Problems(a, b, problems.product)
