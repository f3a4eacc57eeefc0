from peft import get_peft_model
from torch.nn.parallel import DistributedDataParallel as DDP


def adapters(net, config, batches):
    net = DDP(net)
    net = get_peft_model(net, config)  # expect: DST614
    for batch in batches:
        net(batch).loss.backward()


def embedding(net, words, batches):
    model = DDP(net)
    model.module.resize_token_embeddings(len(words))  # expect: DST614
    for batch in batches:
        model(batch).loss.backward()


def before(net, config, words, batches):
    net.resize_token_embeddings(len(words))
    model = DDP(get_peft_model(net, config))
    print(model.module.resize_token_embeddings())
    for batch in batches:
        model(batch).loss.backward()


def to_evaluate(net, config, batches):
    model = DDP(net)
    for batch in batches:
        model(batch).loss.backward()
    return get_peft_model(model.module, config)
