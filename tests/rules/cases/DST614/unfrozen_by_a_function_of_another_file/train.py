from freezing import set_trainable, unfreeze
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision import models


def train(batches):
    net = models.resnet50()
    set_trainable(net, False)
    model = DDP(net.cuda())
    for epoch, batch in enumerate(batches):
        if epoch == 5:
            unfreeze(model.module.layer4)  # expect: DST614
        if epoch == 8:
            set_trainable(model, value=True)  # expect: DST614
        model(batch).mean().backward()


def train_after(batches):
    net = models.resnet50()
    set_trainable(net, False)
    unfreeze(net.layer4)
    model = DDP(net.cuda())
    for batch in batches:
        model(batch).mean().backward()


def train_never_frozen(batches):
    model = DDP(models.resnet50().cuda())
    for epoch, batch in enumerate(batches):
        set_trainable(model, value=True)
        model(batch).mean().backward()


def train_in_turns(batches):
    net = models.resnet50()
    set_trainable(net, False)
    model = DDP(net.cuda())
    for batch in batches:
        set_trainable(model, True)
        model(batch).mean().backward()
        set_trainable(model, False)
