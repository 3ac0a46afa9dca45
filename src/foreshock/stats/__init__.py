"""Pure-array statistics: intervals, joint bootstrap, permutation, many looks, links.

Nothing here sees a data frame, a file or a name; nothing here draws a random number without being handed a generator.
"""

from foreshock.stats._bootstrap import item_weights, joint_means, percentile_interval, weighted_means
from foreshock.stats._intervals import (
    clopper_pearson,
    clustered_stderr,
    mean_interval,
    normal_quantile,
    t_quantile,
    wilson,
)
from foreshock.stats._links import Link, floored, identity, logit, loglog
from foreshock.stats._multiple import benjamini_hochberg, holm
from foreshock.stats._permutation import permutation_p, sign_flip

__all__ = [
    "Link",
    "benjamini_hochberg",
    "clopper_pearson",
    "clustered_stderr",
    "floored",
    "holm",
    "identity",
    "item_weights",
    "joint_means",
    "logit",
    "loglog",
    "mean_interval",
    "normal_quantile",
    "percentile_interval",
    "permutation_p",
    "sign_flip",
    "t_quantile",
    "weighted_means",
    "wilson",
]
