import torch.distributed as dist


class Base:
    def save(self):
        dist.barrier()


class T(Base):
    def run(self):
        print(1)
        if dist.get_rank() == 0:  # expect: DST101
            x = super().save()


def main():
    T().run()
