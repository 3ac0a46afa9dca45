"""Lint: can this benchmark show what it is meant to show, before or after it is run?"""

from foreshock.lint._blind import BlindReport, BlindRow, blind
from foreshock.lint._blind_store import lint_blind
from foreshock.lint._codes import CODES, RULES, Rule, explain
from foreshock.lint._degrade import DEGRADATIONS, Degraded, degrade
from foreshock.lint._design import is_design
from foreshock.lint._lint import chosen_runs, lint_design, lint_store
from foreshock.lint._options import LintOptions

__all__ = [
    "CODES",
    "DEGRADATIONS",
    "RULES",
    "BlindReport",
    "BlindRow",
    "Degraded",
    "LintOptions",
    "Rule",
    "blind",
    "chosen_runs",
    "degrade",
    "explain",
    "is_design",
    "lint_blind",
    "lint_design",
    "lint_store",
]
