import torch.distributed as dist
import wandb


def is_dist_avail_and_initialized():
    if not dist.is_available():
        return False
    if not dist.is_initialized():
        return False
    return True


def get_rank():
    if not is_dist_avail_and_initialized():
        return 0
    return dist.get_rank()


def is_main_process():
    return get_rank() == 0


if is_main_process():  # expect: DST512
    wandb.init(project="x")


def main():
    dist.init_process_group("nccl")
    dist.barrier()
    if is_main_process():
        wandb.log({"done": True})


if __name__ == "__main__":
    main()
