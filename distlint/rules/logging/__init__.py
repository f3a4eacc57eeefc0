"""Rules about logs, trackers and metrics (DST9xx)."""
