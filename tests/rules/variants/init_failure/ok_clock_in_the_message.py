import time
import torch.distributed as dist


def main(trainer):
    try:
        dist.init_process_group("nccl")
        trainer.train()
    except Exception as e:
        print(e)


if __name__ == "__main__":
    main(object())
    print("took", time.time())
