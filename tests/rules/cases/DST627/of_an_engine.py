import deepspeed


def options(args):
    config = {"train_micro_batch_size_per_gpu": args.batch_size}
    config["gradient_accumulation_steps"] = args.gradient_accumulation_steps
    return config


def main(args, net, loader):
    model, optimizer, _, _ = deepspeed.initialize(args=args, model=net, config=options(args))
    for batch in loader:
        loss = model(**batch).loss
        loss = loss / args.gradient_accumulation_steps  # expect: DST627
        model.backward(loss)
        model.step()


def asks(net, loader, config):
    engine = deepspeed.initialize(model=net, config=config)[0]
    for batch in loader:
        loss = engine(**batch).loss
        engine.backward(loss / engine.gradient_accumulation_steps())  # expect: DST627
        engine.step()
