"""A test of what a library says to a call that cannot work."""
# needs: horovod

import horovod.torch as hvd
import pytest
import torch


def test_each_rank_sends():
    hvd.init()
    try:
        hvd.broadcast(torch.ones(1), hvd.rank())
        raise AssertionError("nobody was told")
    except RuntimeError:
        pass
    with pytest.raises(RuntimeError):
        hvd.broadcast(torch.ones(2), hvd.rank())


if __name__ == "__main__":
    test_each_rank_sends()
