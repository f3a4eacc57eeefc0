LAUNCHERS = ["torchrun", "accelerate", "deepspeed"]
HELP = "torchrun --nnodes=2 --nproc_per_node=8 train.py"


def parse(parser):
    parser.add_argument("--launcher", choices=["torchrun", "deepspeed"], help=HELP)
    print("Usage: torchrun --nnodes=2 train.py")
