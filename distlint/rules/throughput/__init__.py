"""Rules about speed and torch.compile (DST7xx)."""
