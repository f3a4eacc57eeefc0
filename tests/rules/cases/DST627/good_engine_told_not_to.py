import deepspeed


def main(args, net, loader):
    config = {"gradient_accumulation_steps": args.accumulation}
    engine, _, _, _ = deepspeed.initialize(model=net, config=config)
    for batch in loader:
        loss = engine(**batch).loss
        engine.backward(loss / args.accumulation, scale_wrt_gas=False)
