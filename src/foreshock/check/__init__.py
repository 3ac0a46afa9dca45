"""The main job: run what applies to a store and say what can be believed."""

from foreshock.check._alarm_look import AlarmLook, look_at_alarms
from foreshock.check._check import CODES, check, mirage_document
from foreshock.check._chosen import chosen
from foreshock.check._forecast_judge import ForecastOptions
from foreshock.check._forecast_lines import ForecastLine, lines_of_store
from foreshock.check._forecast_table import LINKS, ScoreScale, lines_of_rows
from foreshock.check._forecast_targets import Wanted
from foreshock.check._forecasts import FORECAST_CODES, curves_document, forecast_document
from foreshock.check._lights import LIGHTS, Standing, TaskFacts, trust_card
from foreshock.check._look import CheckOptions

__all__ = [
    "CODES",
    "FORECAST_CODES",
    "LIGHTS",
    "LINKS",
    "AlarmLook",
    "CheckOptions",
    "ForecastLine",
    "ForecastOptions",
    "ScoreScale",
    "Standing",
    "TaskFacts",
    "Wanted",
    "check",
    "chosen",
    "curves_document",
    "forecast_document",
    "lines_of_rows",
    "lines_of_store",
    "look_at_alarms",
    "mirage_document",
    "trust_card",
]
