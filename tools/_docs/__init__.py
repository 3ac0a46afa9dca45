"""What the documentation tools share: pages as data, the command line as data, the package's names as data."""
