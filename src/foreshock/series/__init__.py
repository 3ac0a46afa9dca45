"""Series and matrices: what orders models, and what each scored."""

from foreshock.series._aggregates import aggregate_series
from foreshock.series._block import Block
from foreshock.series._cards import STEP_SOURCES, dump_models, family_label, load_models, model_cards
from foreshock.series._conditions import WHICH_ITEMS, ConditionPair, Difference, condition_pairs, condition_panel
from foreshock.series._dimensions import Dimension, dimensions
from foreshock.series._lines import (
    AXES,
    LOG_AXES,
    WIDE,
    Line,
    Stop,
    axis_value,
    conditions_text,
    fingerprint,
    lines,
    size_text,
)
from foreshock.series._panel import panel, series
from foreshock.series._readings import Reading, reading
from foreshock.series._rows import run_row
from foreshock.series._scores import Scores, Seen, load_blocks, scores_of
from foreshock.series._shelf import Shelf
from foreshock.series._total_twins import twin_of
from foreshock.series._twins import TWIN_ORDER, order_for
from foreshock.series._types import Declared, Matrix, Panel, Point, Series

__all__ = [
    "AXES",
    "LOG_AXES",
    "STEP_SOURCES",
    "TWIN_ORDER",
    "WHICH_ITEMS",
    "WIDE",
    "Block",
    "ConditionPair",
    "Declared",
    "Difference",
    "Dimension",
    "Line",
    "Matrix",
    "Panel",
    "Point",
    "Reading",
    "Scores",
    "Seen",
    "Series",
    "Shelf",
    "Stop",
    "aggregate_series",
    "axis_value",
    "condition_pairs",
    "condition_panel",
    "conditions_text",
    "dimensions",
    "dump_models",
    "family_label",
    "fingerprint",
    "lines",
    "load_blocks",
    "load_models",
    "model_cards",
    "order_for",
    "panel",
    "reading",
    "run_row",
    "scores_of",
    "series",
    "size_text",
    "twin_of",
]
