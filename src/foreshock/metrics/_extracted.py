"""Was an answer extracted from the output, or is it the whole text that the model wrote?"""

from __future__ import annotations

from collections.abc import Sequence

# a text this many times as long as the longest target, and longer than a long sentence, holds more than an answer
_TIMES, _LONG = 4, 200


def is_whole_text(answer: str | None, output: str | None, targets: Sequence[str] | None) -> bool:
    """Whether the answer is an unextracted text, much longer than any target.

    The similarity of a whole reasoning text to a target says how long the text is, not how near the answer: such
    answers are no ground for a twin. Without an output, the answer's length alone decides.

    Args:
        answer: What stands for the answer.
        output: What the model wrote.
        targets: Accepted answers.

    Examples:
        >>> thought = "First we add the tens, which gives forty. " * 10 + "The answer is 42."
        >>> is_whole_text(thought, thought, ["42"]), is_whole_text("42", thought, ["42"])
        (True, False)
    """
    if answer is None:
        return False
    if output is not None and answer.strip() != output.strip():
        return False
    longest = max((len(target) for target in targets or ()), default=0)
    return len(answer) > max(_LONG, _TIMES * longest)
