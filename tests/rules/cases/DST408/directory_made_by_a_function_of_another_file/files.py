import os


def prepare_folder(folder):
    os.makedirs(folder, exist_ok=True)
