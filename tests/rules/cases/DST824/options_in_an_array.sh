ARGS=(--nnodes 2 --nproc_per_node 8)
torchrun "${ARGS[@]}" train.py  # expect: DST824
