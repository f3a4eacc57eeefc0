"""Rules about checkpoints and shared files (DST4xx)."""
