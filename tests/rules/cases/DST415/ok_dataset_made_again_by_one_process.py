from datasets import load_dataset

data = load_dataset("json", data_files="train.json", download_mode="force_redownload")
print(len(data))
