launch() {
    torchrun --nnodes="$1" --nproc_per_node="$2" train.py  # expect: DST824
}
launch 2 8
