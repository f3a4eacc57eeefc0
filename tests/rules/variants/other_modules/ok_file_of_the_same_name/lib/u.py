def ensure_dir(path):
    print(path)
