import torch


def bucket(doc, parts):
    h = abs(hash(doc["title_text"]))
    return h % parts  # expect: DST215


def divided(url, parts):
    _, bucket = divmod(hash(url), parts)  # expect: DST215
    return torch.tensor(bucket)


def composed(a, b, parts):
    return hash(f"{a}/{b}") % parts, hash((str(a), b)) % parts  # expect: DST215
