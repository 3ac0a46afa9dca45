"""Numbers with their nouns, and names that may have been meant, as sentences need them."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 200
_TRIED = 5_000


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """``number`` with thousands separators and the noun in its right form.

    Examples:
        >>> count_of(1, "run"), count_of(1200, "run"), count_of(2, "reply", "replies")
        ('1 run', '1,200 runs', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Names that may have been meant by ``name``: those that hold it or that it holds, then those spelt alike.

    Args:
        name: What was given; letters, digits and case are compared, and patterns lose their marks.
        known: What there is; of more than 5,000 names, the first are compared by their spelling.
        most: How many to give.

    Examples:
        >>> nearest("mmlupro", ["arc-agi", "mmlu-pro"]), nearest("mmlu*", ["gsm8k", "leaderboard_mmlu"])
        (['mmlu-pro'], ['leaderboard_mmlu'])
        >>> nearest("zebra", ["gsm8k"])
        []
    """
    import difflib

    wanted = _bare(name)
    bare: dict[str, list[str]] = {}
    for one in dict.fromkeys(known):
        bare.setdefault(_bare(one), []).append(one)
    inside = [b for b in bare if len(wanted) > 1 and len(b) > 1 and (wanted in b or b in wanted)]
    inside.sort(key=lambda b: abs(len(b) - len(wanted)))
    alike = difflib.get_close_matches(wanted, list(bare)[:_TRIED], most)
    return [one for b in dict.fromkeys([*inside, *alike]) for one in bare[b]][:most]


def _bare(name: str) -> str:
    return "".join(letter for letter in name[:_LONGEST].casefold() if letter.isalnum())
