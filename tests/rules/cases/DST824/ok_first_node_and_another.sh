case "$1" in
first) torchrun --nnodes=2 --nproc_per_node=8 --master_addr=10.0.0.1 train.py ;;
*) torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 --master_addr=10.0.0.1 train.py ;;
esac
