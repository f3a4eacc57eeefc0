import subprocess


class Runner:
    def start(self):
        line = "deepspeed --master_port 29500 train.py"  # expect: DST506
        subprocess.Popen(line, shell=True)
