"""Methods of a class of another file, named as if the ranks met in them."""

import torch.distributed as dist
from corpus import Corpus, Waiting, first_rows


def main(args):
    dist.init_process_group("gloo")
    corpus = Corpus(args.text, args.cache)
    if dist.get_rank() == 0:
        corpus.prepare()
    corpus.read()  # expect: DST408
    dist.barrier()
    waiting = Waiting(args.text, "waiting.pt")
    if dist.get_rank() == 0:
        waiting.prepare()
    waiting.initialize()
    waiting.read()
    own, other = Corpus(args.text, "own.pt"), Corpus(args.text, "other.pt")
    if dist.get_rank() == 0:
        own.prepare()
    other.read()
    dist.barrier()
    if dist.get_rank() == 0:
        first_rows(args.text, "rows.pt")
    return Corpus(args.text, "rows.pt").read()
