"""Problems as prompts: a text to go on from, or the turns of a chat."""

from __future__ import annotations

from foreshock.records import Message
from foreshock.tasks._arithmetic import Problem

_ONLY = "Answer with the number only."


def completion_prompt(problem: Problem) -> str:
    """Examples and question as one text that ends in ``A:``, without white space at its end.

    The form of Brown et al. (2020, section 3.9.1) for arithmetic. The answer begins with a space, as tokenizers cut it.

    Examples:
        >>> from foreshock.tasks import arithmetic
        >>> problem = Problem("2+3", "What is 2 plus 3?", "5", 2, 3, (("What is 4 plus 1?", "5"),))
        >>> completion_prompt(problem)
        'Q: What is 4 plus 1?\\nA: 5\\n\\nQ: What is 2 plus 3?\\nA:'
    """
    shown = [f"Q: {question}\nA: {answer}\n\n" for question, answer in problem.examples]
    return f"{''.join(shown)}Q: {problem.question}\nA:"


def completion_target(problem: Problem) -> str:
    """The right answer as it continues :func:`completion_prompt`."""
    return f" {problem.target}"


def chat_turns(problem: Problem) -> tuple[Message, ...]:
    """Examples as earlier turns, then the question; each question asks for the number only."""
    turns: list[Message] = []
    for question, answer in problem.examples:
        turns += [Message("user", f"{question} {_ONLY}"), Message("assistant", answer)]
    return (*turns, Message("user", f"{problem.question} {_ONLY}"))
