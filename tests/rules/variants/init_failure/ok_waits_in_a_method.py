import torch.distributed as dist


class Runner:
    def join(self):
        try:
            dist.init_process_group("nccl")
        except:  # noqa: E722
            self.log("no group")

    def run(self):
        self.join()
        dist.barrier()
        self.train()

    def train(self):
        for batch in self.batches:
            self.model(batch).mean().backward()

    def log(self, text):
        print(text)
