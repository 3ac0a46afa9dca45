"""P2: with enough test items every model is above chance, even under accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foreshock._base import count_of
from foreshock.mirage._entry_facts import EntryFacts
from foreshock.mirage._judgement import Judgement
from foreshock.mirage._predicted import Row, cannot
from foreshock.stats import clopper_pearson, holm

_ALPHA, _POWER = 0.05, 0.8


class _Model(NamedTuple):
    """One model: right answers, items, chance, and the least share that its tokens promise."""

    name: str
    right: int
    items: int
    chance: float
    promised: float | None


def above_chance(judgements: Sequence[Judgement], facts: Sequence[EntryFacts]) -> Row:
    """Whether all models are above chance; the row of the second prediction.

    Above: more right answers than guessing gives (one-sided binomial, Holm over all models). Against it: a model below
    chance for certain, or one that has fewer right answers than the product of its per-position accuracies promises.

    Args:
        judgements: For that product; matched by task and family.
        facts: Counts of each line.
    """
    row = Row(
        "above chance with more items",
        "Schaeffer et al. 2023, section 3",
        "With enough test items every model is above chance, even under accuracy.",
        unit="share of models",
    )
    promised = _promises(judgements)
    unknown = sum(bool(one.right) and one.chance is None for one in facts)
    models = [model for one in facts if one.chance is not None for model in _models(one, promised)]
    if not models:
        why = "the score of guessing is not known" if unknown else "no line has right-or-wrong items"
        return cannot(row, why, "a declared score of guessing" if unknown else "item scores of a right-or-wrong metric")
    above = holm([_more(m.right, m.items, m.chance) for m in models]) <= _ALPHA
    against = holm([_fewer(m) for m in models]) <= _ALPHA
    found, n = int(above.sum()), len(models)
    low, high = (float(x) for x in clopper_pearson(found, n))
    row = row._replace(figure=found / n, low=low, high=high, n=n)
    told = f"{found} of {count_of(n, 'model')} above chance (one-sided, Holm)"
    if unknown:
        told += f"; {count_of(unknown, 'line')} left out: the score of guessing is not known"
    if against.any():
        first = next(m for m, is_against in zip(models, against, strict=True) if is_against)
        return row._replace(answer="contradicted", why=f"{told}; {_against(first)}")
    if found == n:
        return row._replace(answer="supported", why=told)
    rest = [m for m, is_above in zip(models, above, strict=True) if not is_above]
    return row._replace(why=told, enough=_items(rest))


def _models(one: EntryFacts, promised: Mapping[tuple[str, str], Sequence[float]]) -> list[_Model]:
    least = promised.get((one.task, one.family), ())
    chance = one.chance or 0.0
    return [
        _Model(name, round(right), items, chance, least[i] if len(least) == len(one.models) else None)
        for i, (name, right, items) in enumerate(zip(one.models, one.right, one.items, strict=False))
        if items
    ]


def _promises(judgements: Sequence[Judgement]) -> dict[tuple[str, str], list[float]]:
    """Lower ends of the product of per-position accuracies, by task and family."""
    found = {}
    for told in judgements:
        check, subject = told.link_check, told.finding.subject
        if check is not None:
            ends = [max(0.0, float(e - g)) for e, g in zip(check.exact, check.high, strict=True)]
            found[subject.task or "", subject.model_family or ""] = ends
    return found


def _more(right: int, items: int, chance: float) -> float:
    """Probability of as many right answers by guessing; one right answer is above a chance of 0."""
    if right == 0:
        return 1.0
    if chance <= 0:
        return 0.0
    from scipy.special import betainc

    return float(betainc(right, items - right + 1, chance))


def _fewer(model: _Model) -> float:
    """Probability of as few right answers as seen, were the model at chance, or what its tokens promise if more."""
    level = max(model.chance, model.promised or 0.0)
    if level <= 0 or model.right >= model.items:
        return 1.0
    from scipy.special import betainc

    return float(betainc(model.items - model.right, model.right + 1, 1 - min(level, 1 - 1e-12)))


def _against(model: _Model) -> str:
    share = f"{model.name}: {model.right:,} of {model.items:,} right"
    if model.promised is not None and model.promised > model.chance:
        return f"{share} where its tokens promise {model.promised:.2g} or more"
    return f"{share}, below the chance of {model.chance:.2g}"


def _items(rest: Sequence[_Model]) -> str:
    """Items at which the models that are not above chance would be, were their score what is seen or promised."""
    least = 0
    for model in rest:
        level = max(model.right / model.items, model.promised or 0.0)
        if level <= model.chance:
            names = ", ".join(m.name for m in rest[:3]) + (", ..." if len(rest) > 3 else "")
            return (
                f"not known for {names}: how far above chance they should be takes a twin, or per-position correctness"
            )
        if model.chance <= 0:
            need = math.log(1 - _POWER) / math.log1p(-level)
        else:
            # normal approximation, Bonferroni over the models that are left
            from foreshock.stats import normal_quantile

            z = normal_quantile(1 - _ALPHA / len(rest)) + normal_quantile(_POWER)
            need = (z / (level - model.chance)) ** 2 * level * (1 - level)
        least = max(least, math.ceil(need))
    return f"{least:,} items for 80% power at the scores seen"
