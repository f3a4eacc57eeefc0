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
    end = time.time()
    hours = int((end - 1) // 3600)
    print(f"completed in {hours} hours")
