accelerate launch --multi_gpu train.py
