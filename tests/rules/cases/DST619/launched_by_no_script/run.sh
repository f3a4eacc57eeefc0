python -m pip install deepspeed
python train.py
