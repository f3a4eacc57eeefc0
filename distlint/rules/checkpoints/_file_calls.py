"""Which calls write or read a file, or make a folder, and where the path stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.catalogue.catalogue import Catalogue
from distlint.rules.checkpoints._written_text import given_path

Table = Mapping[str, tuple[int, str]]
"""Where the path stands among the arguments of a function, and its keyword."""


def last_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in names)


_MAKES = {"os.makedirs": (0, "name"), "os.mkdir": (0, "path")}
_READS = {
    "torch.load": (0, "f"),
    "torch.jit.load": (0, "f"),
    "numpy.load": (0, "file"),
    "numpy.loadtxt": (0, "fname"),
    "numpy.memmap": (0, "filename"),
    "joblib.load": (0, "filename"),
    "safetensors.torch.load_file": (0, "filename"),
    "pandas.read_csv": (0, "filepath_or_buffer"),
    "pandas.read_json": (0, "path_or_buf"),
    "pandas.read_parquet": (0, "path"),
    "pandas.read_pickle": (0, "filepath_or_buffer"),
    "datasets.load_from_disk": (0, "dataset_path"),
}
_READ_METHODS = {
    "from_pretrained": (0, "pretrained_model_name_or_path"),
    "from_file": (0, "path"),
    "load_from_disk": (0, "dataset_path"),
}
"""Methods of models, tokenizers and data sets, by their names alone."""
_WRITE_METHODS = {"save": (0, "path")}
_PATH_WRITES = frozenset({"write_text", "write_bytes"})
_PATH_READS = frozenset({"read_text", "read_bytes"})
"""Methods of the path itself."""


_OWN_WRITERS = frozenset({*_WRITE_METHODS, *_PATH_WRITES, "open"})
MAKERS_OF_FOLDERS = last_names(_MAKES)
READERS_OF_FILES = last_names(_READS) | {*_READ_METHODS, *_PATH_READS, "open"}
"""The last names of these calls."""


def writers_of_files(catalogue: Catalogue) -> frozenset[str]:
    """The last names of the calls that write a file."""
    return (catalogue.writes.names - catalogue.writes.names_of_writers) | _OWN_WRITERS


def written_file(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The path of the file, or of the folder with it, that a call creates or replaces."""
    if site.name == "open":
        path, position = _opened(objects, site)
        mode = objects.constant(objects.argument(site, "mode", position), site.point, "r")
        return path if isinstance(mode, str) and "w" in mode else None
    row = objects.catalogue.writes.of(objects.called(site))
    if row is not None:
        return given_path(objects, row, site) if not row.by else None
    row = objects.catalogue.writes.of_method(site.name)
    if row is not None and isinstance(site.call.func, ir.Attribute):
        return given_path(objects, row, site) if objects.callee(site) is None else None
    methods = {} if objects.called(site) else _WRITE_METHODS
    return _argument(objects, site, {}, methods, _PATH_WRITES)


def made_folder(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The path of the folder that a call makes."""
    return _argument(objects, site, _MAKES, {}, frozenset())


def read_file(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The path of the file, or of the folder with it, that a call reads, or opens in any mode."""
    if site.name == "open":
        return _opened(objects, site)[0]
    return _argument(objects, site, _READS, _READ_METHODS, _PATH_READS)


def opened_or_written(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The path of the file that a call writes, or opens in any mode."""
    is_open = site.name == "open"
    return _opened(objects, site)[0] if is_open else written_file(objects, site)


def _opened(objects: Objects, site: CallSite) -> tuple[ir.Expr | None, int]:
    """The path that ``open(path, mode)``, or ``path.open(mode)``, opens, and where the mode is."""
    if isinstance(site.call.func, ir.Attribute) and not objects.called(site):
        return site.call.func.value, 0
    return objects.argument(site, "file", 0).value, 1


def _argument(
    objects: Objects,
    site: CallSite,
    functions: Table,
    methods: Table,
    of_path: frozenset[str],
) -> ir.Expr | None:
    """The path that a call is given, or the one whose method it is."""
    func, row = site.call.func, functions.get(objects.called(site))
    if row is None and isinstance(func, ir.Attribute) and objects.callee(site) is None:
        if site.name in of_path:
            return func.value
        row = methods.get(site.name)
    return objects.argument(site, row[1], row[0]).value if row is not None else None
