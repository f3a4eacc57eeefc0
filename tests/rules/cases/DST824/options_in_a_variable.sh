DISTRIBUTED_ARGS="
    --nproc_per_node 8 \
    --nnodes 2
"
torchrun $DISTRIBUTED_ARGS train.py  # expect: DST824
