"""Alarms: a finding about time whose false-alarm rate was stated before the data came."""

from foreshock.alarms._ack import acknowledge
from foreshock.alarms._alarm import TrendAlarm
from foreshock.alarms._ledger import Ledger, take_look
from foreshock.alarms._lines_kept import KeptLine, keep_lines, tell_lines
from foreshock.alarms._mute import as_muted, mute, today
from foreshock.alarms._notify import command_words, notify
from foreshock.alarms._online import Online, e_lond, e_of_p, lord_plus_plus
from foreshock.alarms._state import Memory, export_state, import_state, read_memory
from foreshock.alarms._trend_alarm import trend_alarm
from foreshock.alarms._watch_lines import idle_patterns, watch_lines, watch_series
from foreshock.alarms._watch_store import WatchOptions, settle, trails_of, watch_store
from foreshock.alarms._watched import Watch, Watched
from foreshock.alarms._watched_lines import repeat_lines, watched_lines
from foreshock.alarms._watched_series import WatchedSeries, watched_series

__all__ = [
    "KeptLine",
    "Ledger",
    "Memory",
    "Online",
    "TrendAlarm",
    "Watch",
    "WatchOptions",
    "Watched",
    "WatchedSeries",
    "acknowledge",
    "as_muted",
    "command_words",
    "e_lond",
    "e_of_p",
    "export_state",
    "idle_patterns",
    "import_state",
    "keep_lines",
    "lord_plus_plus",
    "mute",
    "notify",
    "read_memory",
    "repeat_lines",
    "settle",
    "take_look",
    "tell_lines",
    "today",
    "trails_of",
    "trend_alarm",
    "watch_lines",
    "watch_series",
    "watch_store",
    "watched_lines",
    "watched_series",
]
