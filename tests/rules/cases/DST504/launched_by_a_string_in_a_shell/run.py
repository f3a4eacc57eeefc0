import subprocess

COMMAND = "CUDA_VISIBLE_DEVICES={} torchrun --nproc_per_node {} ./main.py --lr {}"
subprocess.run(COMMAND.format("0,1", 2, 0.1), shell=True)
