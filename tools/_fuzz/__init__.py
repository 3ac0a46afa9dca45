"""Mutation fuzzing of the readers: small valid logs, broken at random."""
