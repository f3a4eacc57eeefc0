accelerate launch --use_fsdp \
  --mixed_precision bf16 \
  train.py --epochs 3
