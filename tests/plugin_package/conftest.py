"""The package is imported by name, as an installed one is, never collected as a file of the tests."""

collect_ignore = ["foreshock_example"]
