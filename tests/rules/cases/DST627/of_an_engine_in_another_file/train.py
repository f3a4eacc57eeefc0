import deepspeed

from settings import settings


def main(args, net, loader):
    ds_config = settings(args, stage=3)
    engine, _, _, _ = deepspeed.initialize(model=net, config=ds_config)
    for batch in loader:
        loss = engine(**batch).loss
        engine.backward(loss / args.accumulation)  # expect: DST627
        engine.step()
