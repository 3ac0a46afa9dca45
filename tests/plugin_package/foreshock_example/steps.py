"""A metric of a whole run, from the steps inside its responses."""

from foreshock.metrics import metric


@metric(kind="continuous", grain="run", needs=("trace",), statistics=("calls", "steps"), additive=True, range=(0, 1))
def acted_share():
    """Share of all steps of a run that are tool calls."""
    return lambda response: [sum(step.kind == "tool" for step in response.trace), len(response.trace)]


@acted_share.result
def _share(sums):
    return sums[0, 0] / sums[0, 1]
