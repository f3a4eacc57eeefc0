from torch.nn.utils import clip_grad_norm_
from state import State


def main(net, x):
    state = State(net)
    state.model(x).sum().backward()
    clip_grad_norm_(state.model.parameters(), 1.0)  # expect: DST611
