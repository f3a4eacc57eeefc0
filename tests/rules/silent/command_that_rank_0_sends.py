"""Rank 0 sends what the others are to do next."""

import torch
import torch.distributed as dist


def send(value):
    box = [value if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box, src=0)
    return box[0]


class Model:
    def generate(self, text):
        return text.upper()

    def follow(self):
        while True:
            command = torch.empty(1, dtype=torch.long)
            dist.broadcast(command, src=0)
            if command == 0:
                self.generate(send(None))
            elif command == 1:
                return


def main():
    model = Model()
    if dist.get_rank() == 0:
        dist.broadcast(torch.tensor([0]), src=0)
        send("text")
        print(model.generate("text"))
        dist.broadcast(torch.tensor([1]), src=0)
    else:
        model.follow()
    dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main()
    dist.destroy_process_group()
