"""What keeps the ranks from using the file too early, or from using another one."""

import os

import torch
import torch.distributed as dist


def write(model, path):
    torch.save(model.state_dict(), path)


def barrier(model, rank, path):
    if rank == 0:
        write(model, path)
    dist.barrier()
    torch.load(path)


def other_path(model, rank, path):
    if rank == 0:
        write(model, path + ".new")
    torch.load(path)


def read_under_a_test(model, rank, path):
    if rank == 0:
        write(model, path)
    if rank == 0:
        torch.load(path)


def write_and_meet(model, path):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()


def meets(model, path):
    write_and_meet(model, path)
    torch.load(path)


def called_alone(model, rank, path):
    if rank == 0:
        write(model, path)
    torch.load(path)


def main(model, rank, path):
    if rank == 0:
        called_alone(model, rank, path)


def changed(model, path):
    path = path + str(dist.get_rank())
    torch.save(model.state_dict(), path)


def changed(model, rank, path):
    if rank == 0:
        changed(model, path)
    torch.load(path)


class Trainer:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        dist.barrier()
        return torch.load(self.file)

    def run(self):
        if dist.get_rank() == 0:
            self.save()
        self.load()


class Waits:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def run(self):
        if self.rank == 0:
            self.save()
        self.accelerator.wait_for_everyone()
        self.load()


class Both:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def run(self):
        if self.rank == 0:
            self.save()
            self.load()


class Trains:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def run(self):
        if self.rank == 0:
            self.save()
        self.model(self.x).sum().backward()
        self.load()


def make(folder):
    os.makedirs(folder, exist_ok=True)


def each_makes(state, folder, rank):
    if rank == 0:
        make(folder)
    os.makedirs(folder, exist_ok=True)
    torch.save(state, os.path.join(folder, f"{rank}.pt"))


def each_calls(state, folder, rank):
    if rank == 0:
        make(folder)
    else:
        make(folder)
    torch.save(state, os.path.join(folder, f"{rank}.pt"))


def read(path):
    if not os.path.exists(path):
        return None
    return torch.load(path)


def looks(model, rank, path):
    if rank == 0:
        write(model, path)
    read(path)


def each_by_a_function(state, folder, rank):
    if rank == 0:
        make(folder)
    make(folder)
    torch.save(state, os.path.join(folder, f"{rank}.pt"))


def reset(model, rank, path):
    if rank == 0:
        write(model, path)
    path = "other.pt"
    torch.load(path)


class Resumes:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def run(self):
        self.load()
        for epoch in range(9):
            self.train(epoch)
            if self.rank == 0:
                self.save()


def prepare_folder(folder):
    if dist.get_rank() == 0:
        os.makedirs(folder, exist_ok=True)


def trained_in_between(args, trainer, rank):
    save_if_first(args.path, rank)
    trainer.train()
    torch.load(args.path)


def save_if_first(path, rank):
    if rank == 0:
        torch.save({}, path)


def backward_in_between(model, args, rank):
    save_if_first(args.path, rank)
    loop(model, args)
    torch.load(args.path)


def loop(model, args):
    for x in args.data:
        model(x).backward()


class First:
    def save(self):
        torch.save(self.model.state_dict(), self.file)


class Second:
    def load(self):
        return torch.load(self.file)

    def run(self, first):
        first = First()
        if dist.get_rank() == 0:
            first.save()
        self.load()


def save_all(path, rank):
    torch.save({}, f"{path}_{rank}")


def rank_in_the_name(path, rank):
    save_all(path, rank)
    torch.load(f"{path}_{rank}")


def only_in_a_world(model, path, local_rank):
    if local_rank != -1:
        write(model, path)
    torch.load(path)
