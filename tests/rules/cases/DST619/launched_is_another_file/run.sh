accelerate launch --use_deepspeed pretrain.py
