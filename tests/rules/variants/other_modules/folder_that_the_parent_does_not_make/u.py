import os


def cache_dir(folders):
    for folder in folders:
        if os.path.exists(folder):
            return folder
    os.makedirs(folders[-1])  # expect: DST414
    return folders[-1]
