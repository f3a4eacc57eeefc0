"""Rules about data: samplers, sharding, workers (DST2xx)."""
