"""Tasks that this package asks itself: items whose truth is known, and the prompts that ask for them."""

from foreshock.tasks._arithmetic import OPERATIONS, Arithmetic, Problem, arithmetic, extract_number
from foreshock.tasks._prompts import chat_turns, completion_prompt, completion_target

__all__ = [
    "OPERATIONS",
    "Arithmetic",
    "Problem",
    "arithmetic",
    "chat_turns",
    "completion_prompt",
    "completion_target",
    "extract_number",
]
