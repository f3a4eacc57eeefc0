import time
import torch
import torch.distributed as dist


def setup():
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")


def main(trainer):
    try:
        setup()
        trainer.train()
    except Exception as e:
        print(e)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(object())
    hours = 3 // 2
    print(hours)
