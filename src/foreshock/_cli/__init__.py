"""The command line: one file per command, each one library call."""

from foreshock._cli._main import main

__all__ = ["main"]
