def unfreeze(model):
    for parameter in model.parameters():
        parameter.requires_grad = True


def set_trainable(model, value):
    for parameter in model.parameters():
        parameter.requires_grad = value
