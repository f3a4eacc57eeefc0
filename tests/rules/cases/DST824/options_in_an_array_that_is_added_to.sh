ARGS=(--nproc_per_node 8)
ARGS+=(--nnodes 2)
torchrun ${ARGS[@]} train.py  # expect: DST824
