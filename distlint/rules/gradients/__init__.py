"""Rules about gradients and numerics (DST6xx)."""
