"""Examples that really run under torch.distributed; see `distlint.harness`."""
