"""Random SPMD scripts, judged by execution and by the analyser."""
