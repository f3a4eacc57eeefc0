import os

IS_MAIN = os.environ.get("RANK", "0") == "0"
