"""Log formats in, records out."""

from foreshock.readers._builtin import readers
from foreshock.readers._curves import CurveColumns, CurveRows, read_curves
from foreshock.readers._discover import holds_logs, read_paths
from foreshock.readers._protocol import Candidate, Failure, Reader, Reading, ReadOptions

__all__ = [
    "Candidate",
    "CurveColumns",
    "CurveRows",
    "Failure",
    "ReadOptions",
    "Reader",
    "Reading",
    "holds_logs",
    "read_curves",
    "read_paths",
    "readers",
]
