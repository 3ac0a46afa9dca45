"""Induced emergence in small vision models: a smooth score is made to jump by the metric that is put on it."""
