run() {
    torchrun --nnodes=2 --nproc_per_node=8 train.py "$@"  # expect: DST824
}
run --lr 0.1
