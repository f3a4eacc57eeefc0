import subprocess

subprocess.run(
    ["accelerate", "launch", "--main_process_port", "29500", "train.py"]  # expect: DST506
)
