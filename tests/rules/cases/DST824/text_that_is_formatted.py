import os


def main(gpus):
    os.system("torchrun --nnodes=2 --nproc_per_node={} train.py".format(gpus))  # expect: DST824
    os.system("torchrun --nnodes=2 --nproc_per_node=%d train.py" % gpus)  # expect: DST824
