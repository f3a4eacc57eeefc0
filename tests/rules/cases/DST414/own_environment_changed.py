import os
import subprocess


def main(args, current_env):
    if not os.path.exists(args.logs):
        os.mkdir(args.logs)  # expect: DST414
    os.environ["LOCAL_RANK"] = str(args.index)
    subprocess.Popen(args.command, env=current_env).wait()
