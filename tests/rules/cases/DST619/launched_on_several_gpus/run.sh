accelerate launch --config_file multi.yaml train.py
