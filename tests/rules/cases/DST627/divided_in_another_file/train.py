from accelerate import Accelerator

from losses import scaled


def main(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for inputs, wanted in loader:
        loss = scaled(model(inputs), wanted, args.accumulation)
        accelerator.backward(loss)  # expect: DST627
