accelerate launch --num_processes 8 --config_file scripts/zero.yaml $dir/train.py \
    --model x
