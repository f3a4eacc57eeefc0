from torch.nn.utils import clip_grad_norm_


def backward(model, loss, kind):
    if kind == "deepspeed":
        model.backward(loss)
    else:
        loss.backward()


def update(model, optimizer, kind):
    if kind == "deepspeed":
        model.step()
    else:
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def managed(model, loss):
    model.backward(loss)
