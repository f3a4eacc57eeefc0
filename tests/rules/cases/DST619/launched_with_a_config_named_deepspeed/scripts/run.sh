accelerate launch --config_file  configs/deepspeed_inference.yaml ours/train.py
