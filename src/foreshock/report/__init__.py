"""Findings as a page, as text in a terminal, as JSON, JUnit and Markdown; drawn from the document and nothing else."""

from foreshock.report._alarms import promises_of
from foreshock.report._exports import json_text, junit
from foreshock.report._html import fragment, html, render_html
from foreshock.report._markdown import markdown
from foreshock.report._plot import plot
from foreshock.report._safe import clean, one_line
from foreshock.report._schema import schema
from foreshock.report._terminal import terminal

__all__ = [
    "clean",
    "fragment",
    "html",
    "json_text",
    "junit",
    "markdown",
    "one_line",
    "plot",
    "promises_of",
    "render_html",
    "schema",
    "terminal",
]
