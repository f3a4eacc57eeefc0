for host in a b; do
    ssh $host "cd /work && torchrun --nnodes=2 --nproc_per_node=8 train.py" &  # expect: DST824
done
