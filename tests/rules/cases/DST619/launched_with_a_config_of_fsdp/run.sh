accelerate launch --config_file=default.yaml train.py
