"""Learns the calibration that the package ships, from simulated curves alone."""
