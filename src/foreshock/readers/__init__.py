"""Log formats in, records out."""

from foreshock.readers._builtin import readers
from foreshock.readers._discover import read_paths
from foreshock.readers._protocol import Candidate, Failure, Reader, Reading, ReadOptions

__all__ = ["Candidate", "Failure", "ReadOptions", "Reader", "Reading", "read_paths", "readers"]
