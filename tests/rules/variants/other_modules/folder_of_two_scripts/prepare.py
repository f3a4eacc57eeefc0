from u import ensure_dir

ensure_dir("prepared")
