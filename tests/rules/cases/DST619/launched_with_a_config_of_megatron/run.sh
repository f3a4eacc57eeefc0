accelerate launch --config_file "conf/base.yaml" train.py
