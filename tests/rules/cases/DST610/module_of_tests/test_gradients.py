import pytest
import torch

with torch.autograd.set_detect_anomaly(True):
    f(x).backward()


def test_gradients():
    with pytest.raises(RuntimeError):
        f(y).backward()
