"""Examples that really run under torch.distributed.

`cluster` is the client (no torch in it), `zygote` the server: one process that has loaded torch and
forks the ranks of each script; `rank` is what a forked rank does, and `recorder` logs the
collectives that it issues.
"""
