run() {
    local nodes=2
    torchrun --nnodes=$nodes --nproc_per_node=8 train.py  # expect: DST824
}
run
