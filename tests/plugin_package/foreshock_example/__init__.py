"""A metric in eight lines."""

from foreshock.metrics import metric


@metric(kind="continuous", needs=("output",), range=(0, 1))
def capitals(*, least: int = 1):
    """Share of the letters that are capitals; of fewer than ``least`` letters nothing can be said."""

    def score(response):
        letters = [character for character in response.output if character.isalpha()]
        return sum(map(str.isupper, letters)) / len(letters) if len(letters) >= least else None

    return score
