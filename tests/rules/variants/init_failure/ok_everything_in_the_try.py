import torch.distributed as dist


def main():
    try:
        dist.init_process_group("nccl")
        for _ in range(10):
            dist.barrier()
    except Exception as error:
        print(error)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
    print("end")
