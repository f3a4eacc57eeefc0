import os

is_main_process = os.environ.get("RANK", "0") == "0"
