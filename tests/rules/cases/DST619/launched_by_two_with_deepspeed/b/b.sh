deepspeed train.py --small
