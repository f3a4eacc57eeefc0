def owner(domain, path, parts):
    return abs(hash((domain, path))) % parts
