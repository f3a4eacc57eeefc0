import subprocess

subprocess.run(
    [
        "torchrun",
        "--rdzv_backend=c10d",
        "--rdzv_endpoint=localhost:29400",  # expect: DST506
        "train.py",
    ]
)
