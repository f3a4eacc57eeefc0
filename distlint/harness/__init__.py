"""Scripts that really run, on a few processes under torch.distributed (gloo).

`cluster` is the client (no torch in it), `zygote` the server: one process that has loaded torch and
forks the ranks of each script; `rank` is what a forked rank does, and `recorder` logs the
collectives that it issues.
"""
