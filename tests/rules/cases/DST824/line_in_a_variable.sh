CMD="torchrun --nnodes=2 --nproc_per_node=8 train.py"
srun bash -c "$CMD"  # expect: DST824
eval "$CMD"  # expect: DST824
