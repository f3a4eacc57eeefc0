deepspeed --num_gpus 8 code/train.py
