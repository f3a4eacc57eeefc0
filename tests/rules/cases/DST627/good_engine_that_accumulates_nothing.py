import deepspeed


def main(args, net, loader):
    config = {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1}
    engine, _, _, _ = deepspeed.initialize(model=net, config=config)
    for batch in loader:
        engine.backward(engine(**batch).loss / args.accumulation)


def by_a_file(args, net, loader):
    engine, _, _, _ = deepspeed.initialize(args=args, model=net, config="ds_config.json")
    for batch in loader:
        engine.backward(engine(**batch).loss / args.n_losses)
