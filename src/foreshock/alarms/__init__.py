"""Alarms: a finding about time whose false-alarm rate was stated before the data came."""

from foreshock.alarms._online import Online, e_lond, e_of_p, lord_plus_plus
from foreshock.alarms._watched_lines import repeat_lines, watched_lines
from foreshock.alarms._watched_series import WatchedSeries, watched_series

__all__ = [
    "Online",
    "WatchedSeries",
    "e_lond",
    "e_of_p",
    "lord_plus_plus",
    "repeat_lines",
    "watched_lines",
    "watched_series",
]
