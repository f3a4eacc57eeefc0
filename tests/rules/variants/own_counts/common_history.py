"""The same with the losses of all ranks."""

import torch
import torch.distributed as dist


def fit(weights, rounds, tolerance):
    history, converged, turn = [], False, 0
    while not converged and turn < rounds:
        loss = (weights * torch.randn(4)).sum()
        dist.all_reduce(loss)
        history.append(float(loss))
        converged = len(history) > 1 and abs(history[-1] - history[-2]) < tolerance
        turn += 1


dist.init_process_group("gloo")
fit(torch.zeros(4), 10, 1e-5)
