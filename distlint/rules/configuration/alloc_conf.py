"""DST823: options of the caching allocator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from distlint.catalogue.settings import nearest, variables
from distlint.fixers.settings import setting_valued
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Fix, Related, Severity
from distlint.source.numbers import whole_number
from distlint.source.settings.shell import Setting

_NAMES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
_FLAGS = frozenset(
    {
        "expandable_segments",
        "pinned_use_background_threads",
        "pinned_use_cuda_host_register",
        "pinned_use_hip_host_register",
        "release_lock_on_cudamalloc",
        "release_lock_on_hipmalloc",
        "graph_capture_record_stream_reuse",
        "throw_on_cudamalloc_oom",
    }
)
_PAIR = re.compile(r"([A-Za-z_0-9]+)\s*:\s*(\[[^\]]*\]|[^,\s\[]*)")
_FORMER = frozenset({"roundup_bypass_threshold_mb", "roundup_power2_divisions"})
_IGNORED = ("max_split_size_mb", "roundup_power2_divisions", "garbage_collection_threshold")


class AllocatorConfiguration(SettingsRule):
    """The CUDA caching allocator is given an option or a value that it does not accept.

    ```bash
    export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:true  # bad: only `True` is accepted
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
    torchrun --nproc-per-node=8 train.py
    ```

    `expandable_segments:True` is what torch itself suggests against fragmentation.

    ## Why is this bad?

    torch raises at the first use of CUDA, on every rank.

    ## What is reported

    In `PYTORCH_CUDA_ALLOC_CONF`, `PYTORCH_ALLOC_CONF` and `PYTORCH_HIP_ALLOC_CONF`:

    - unknown options, and `=` instead of `:` (error);
    - `true` or `false` in lower case; only `True` and `False` are accepted (error);
    - `max_split_size_mb` below 20, a `garbage_collection_threshold` outside 0 to 1, a `backend`
      that does not exist (error);
    - options that `backend:cudaMallocAsync` ignores (warning);
    - two of the variables with different values: `PYTORCH_CUDA_ALLOC_CONF` takes precedence,
      contrary to the documentation (warning).

    ## What is not reported

    - Part of the value comes from another variable or a command.

    ## Fix safety

    Safe: capitalizes `true` and `false`. Without that, the job fails.

    Unsafe: replaces a misspelled option with the one that it resembles.

    ## References

    - [CUDA semantics: memory management](https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management)
    - [CUDA environment variables](https://docs.pytorch.org/docs/stable/cuda_environment_variables.html)
    """

    code = "DST823"
    name = "alloc-conf"

    good = (
        Example(
            title="The option that torch suggests",
            file="launch.sh",
            code="""\
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A value in lower case, and one that is too small",
            file="launch.sh",
            code="""\
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:true  # expect: DST823
PYTORCH_ALLOC_CONF=max_split_sizemb:128 python train.py  # expect: DST823
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        given: dict[str, Setting] = {}
        for setting in settings(page):
            if setting.name not in _NAMES or not setting.value:
                continue
            for problem, severity, help, fix in self._problems(page, setting, setting.value):
                yield self.finding(
                    page,
                    problem,
                    severity,
                    (setting.value_start, setting.value_end),
                    effect="torch raises at the first use of CUDA"
                    if severity is Severity.ERROR
                    else "the option has no effect",
                    help=help,
                    fix=fix,
                )
            if setting.always and setting.form == "export":
                yield from self._against(page, setting, given)
                given[setting.name] = setting

    def _against(
        self, page: Page, setting: Setting, given: dict[str, Setting]
    ) -> Iterator[Finding]:
        for other in given.values():
            if other.name != setting.name and other.value != setting.value:
                yield self.finding(
                    page,
                    f"`{setting.name}` and `{other.name}` have different values",
                    Severity.WARNING,
                    (setting.start, setting.end),
                    effect="`PYTORCH_CUDA_ALLOC_CONF` takes precedence",
                    help="Set only one of them",
                    related=(Related("the other value", page.sheet.place(other.start, other.end)),),
                )

    def _problems(
        self, page: Page, setting: Setting, value: str
    ) -> Iterator[tuple[str, Severity, str, Fix | None]]:
        options = frozenset(variables()[setting.name]["options"]) | _FORMER
        if ":" not in value:
            said = "use `:`, not `=`" if "=" in value else "have the form `name:value`"
            yield f"allocator options {said}", Severity.ERROR, "Write `name:value`", None
            return
        pairs = dict(_PAIR.findall(value))
        for name, text in pairs.items():
            if name not in options:
                meant = nearest(name, options, 2)
                help = f"Use `{meant}`" if meant else "Remove the option"
                fix = None
                if meant is not None:
                    fix = setting_valued(
                        page.sheet, "unsafe", setting, value.replace(name, meant, 1)
                    )
                yield f"unknown allocator option `{name}`", Severity.ERROR, help, fix
                continue
            problem = _problem(name, text)
            if problem is not None:
                fix = None
                if name in _FLAGS and text.lower() in ("true", "false"):
                    new = value.replace(f"{name}:{text}", f"{name}:{text.capitalize()}")
                    fix = setting_valued(page.sheet, "safe", setting, new)
                yield f"invalid value `{name}:{text}`", Severity.ERROR, problem, fix
        if pairs.get("backend") == "cudaMallocAsync":
            for name in _IGNORED:
                if name in pairs:
                    yield (
                        f"`backend:cudaMallocAsync` ignores `{name}`",
                        Severity.WARNING,
                        f"Remove `{name}`, or use the native backend",
                        None,
                    )


def _problem(name: str, text: str) -> str | None:
    if name in _FLAGS and text not in ("True", "False"):
        return "Use `True` or `False`"
    megabytes = whole_number(text) if name == "max_split_size_mb" else None
    if megabytes is not None and 0 <= megabytes < 20:
        return "Use 20 or more"
    if name == "backend" and text not in ("native", "cudaMallocAsync"):
        return "Use `native` or `cudaMallocAsync`"
    if name in ("garbage_collection_threshold", "per_process_memory_fraction"):
        try:
            number = float(text)
        except ValueError:
            return "Use a number between 0 and 1"
        inside = 0 < number < 1 or (name.startswith("per") and number in (0, 1))
        return None if inside else "Use a number between 0 and 1"
    return None
