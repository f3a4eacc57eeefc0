accelerate launch --use_deepspeed --zero_stage 2 train.py
