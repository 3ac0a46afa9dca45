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
from foreshock.stats._letters import letters, tie_groups
from foreshock.stats._links import Link, cloglog, floored, identity, logit, loglog
from foreshock.stats._mcnemar import McNemar, mcnemar, tango_interval
from foreshock.stats._multiple import benjamini_hochberg, holm, partial_conjunction
from foreshock.stats._odds import Odds, exact_odds
from foreshock.stats._paired import cluster_sums, discordance, paired_detectable, paired_interval, paired_items
from foreshock.stats._permutation import permutation_p
from foreshock.stats._sign_flip import SignFlip, sign_flip

__all__ = [
    "Link",
    "McNemar",
    "Odds",
    "SignFlip",
    "benjamini_hochberg",
    "cloglog",
    "clopper_pearson",
    "cluster_sums",
    "clustered_stderr",
    "discordance",
    "exact_odds",
    "floored",
    "holm",
    "identity",
    "item_weights",
    "joint_means",
    "letters",
    "logit",
    "loglog",
    "mcnemar",
    "mean_interval",
    "normal_quantile",
    "paired_detectable",
    "paired_interval",
    "paired_items",
    "partial_conjunction",
    "percentile_interval",
    "permutation_p",
    "sign_flip",
    "t_quantile",
    "tango_interval",
    "tie_groups",
    "weighted_means",
    "wilson",
]
