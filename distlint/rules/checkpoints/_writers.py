"""Which calls write a file or folder, and where its path stands among their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.rules.checkpoints._answers import answer_file
from distlint.rules.checkpoints._written_text import TEXT_NAMES, written_file

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite

WRITERS = {
    "torch.save": (1, "f"),
    "torch.jit.save": (1, "f"),
    "safetensors.torch.save_file": (1, "filename"),
    "safetensors.torch.save_model": (1, "filename"),
}
"""Functions that write a file: where the path stands among their arguments."""
ARRAY_WRITERS = {
    "joblib.dump": (1, "filename"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"),
}
"""Functions that write other data, by the name of the file."""
_DATA_WRITERS = {
    "pickle.dump": (1, "file"),
    "json.dump": (1, "fp"),
    "yaml.dump": (1, "stream"),
    "yaml.safe_dump": (1, "stream"),
    **ARRAY_WRITERS,
    "shutil.copytree": (1, "dst"),
}
TABLE_WRITERS = {
    "to_csv": (0, "path_or_buf"),
    "to_json": (0, "path_or_buf"),
    "to_excel": (0, "excel_writer"),
    "to_pickle": (0, "path"),
    "to_parquet": (0, "path"),
    "save_to_disk": (0, "dataset_path"),
    "save_pretrained": (0, "save_directory"),
}
"""Methods of tables, data sets and models, by their names alone."""
_BY_OTHERS = frozenset({"save_function"})
"""Options by which the caller passes what writes, such as Accelerate's ``save``."""

_OPENERS = frozenset({"open", "write_text", "write_bytes"})
NAMES = frozenset(name.rpartition(".")[2] for name in WRITERS)
_DATA_NAMES = frozenset(name.rpartition(".")[2] for name in _DATA_WRITERS) | {*TABLE_WRITERS}


def names_in(module: Module) -> frozenset[str]:
    """The last names of the calls that may write in a module."""
    names = NAMES | _DATA_NAMES
    return names if _OPENERS.isdisjoint(module.tokens) else names | TEXT_NAMES


def written_to(guards: Guards, site: CallSite) -> ir.Expr | None:
    """The path, or the open file, that a call writes to."""
    called = guards.objects.called(site)
    writer = WRITERS.get(called, _DATA_WRITERS.get(called))
    if writer is None and not called and isinstance(site.call.func, ir.Attribute):
        writer = TABLE_WRITERS.get(site.name)
        if any(each.keyword in _BY_OTHERS for each in site.call.args):
            return None
    if writer is None:  # a download is of another rule
        return written_file(guards, site) if answer_file(guards, site) is None else None
    position, keyword = writer
    return guards.objects.argument(site, keyword, position).value
