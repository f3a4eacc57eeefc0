"""Rules about memory (DST3xx)."""
