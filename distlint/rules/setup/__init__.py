"""Rules about setting up processes and devices (DST5xx)."""
