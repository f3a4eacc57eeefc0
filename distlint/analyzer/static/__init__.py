"""Analyses that execute nothing: call graph, effects, taint, slices, live variables, guards."""
