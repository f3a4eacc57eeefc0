run() {
    torchrun --nnodes="$1" "${@:2}" train.py
}
run 2 --rdzv_endpoint=a:1
start() {
    torchrun --nnodes="$1" --nproc_per_node="$2" train.py
}
start 1 8
start 1 4
ARGS=(--nnodes 2 --nproc_per_node 8)
ARGS+=(--rdzv_endpoint "$HOST:29500" --rdzv_backend c10d)
torchrun "${ARGS[@]}" train.py
torchrun --nnodes=2 "${EXTRA[@]}" train.py
read -ra MORE
torchrun --nnodes=2 "${MORE[@]}" train.py
SOME=(--nnodes 2)
if [ -n "$HOST" ]; then SOME+=(--rdzv_endpoint "$HOST"); fi
torchrun "${SOME[@]}" train.py
