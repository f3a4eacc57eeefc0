"""Symbolic execution of a simulated cluster: one rank, pairs of ranks, replay, explanation."""
