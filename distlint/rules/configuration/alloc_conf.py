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
    """The caching allocator is given an option or a value that it does not take.

    ## What it finds

    In `PYTORCH_CUDA_ALLOC_CONF`, `PYTORCH_ALLOC_CONF` and `PYTORCH_HIP_ALLOC_CONF`:

    - unknown options, and `=` in place of `:` (error);
    - `true` or `false` in lower case, which only `True` and `False` are taken for (error);
    - `max_split_size_mb` below 20, a `garbage_collection_threshold` outside of 0 to 1, a `backend`
      that does not exist (error);
    - options that `backend:cudaMallocAsync` does not look at (warning);
    - two of the names with different values: the CUDA name wins, against what the documentation
      says (warning).

    ## Why it matters

    torch raises at the first use of CUDA, on every rank.

    ## What to do

    Write what the message names. `expandable_segments:True` is what torch itself suggests against
    fragmentation.

    ## Fix

    Safe: `true` and `false` are written as torch takes them. Without that the job ends.
    Unsafe: a misspelt option is replaced by the one it resembles.

    ## When it is silent

    - Part of the value comes from elsewhere.
    """

    code = "DST823"
    name = "alloc-conf"

    good = (
        Example(
            title="What torch suggests",
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
            title="In lower case, and too small",
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
            for problem, severity, fix in self._problems(page, setting, setting.value):
                yield self.finding(
                    page,
                    problem,
                    severity,
                    (setting.value_start, setting.value_end),
                    effect="torch raises at the first use of CUDA"
                    if severity is Severity.ERROR
                    else "it is not what the job runs with",
                    advice="correct the value",
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
                    effect="`PYTORCH_CUDA_ALLOC_CONF` wins",
                    advice="set one of them",
                    related=(Related("the other", page.sheet.place(other.start, other.end)),),
                )

    def _problems(
        self, page: Page, setting: Setting, value: str
    ) -> Iterator[tuple[str, Severity, Fix | None]]:
        options = frozenset(variables()[setting.name]["options"]) | _FORMER
        if ":" not in value:
            said = "`=` where `:` should stand" if "=" in value else "options are `name:value`"
            yield f"`{value}`: {said}", Severity.ERROR, None
            return
        pairs = dict(_PAIR.findall(value))
        for name, text in pairs.items():
            if name not in options:
                meant = nearest(name, options, 2)
                hint = f"; did you mean `{meant}`?" if meant else ""
                fix = None
                if meant is not None:
                    fix = setting_valued(
                        page.sheet, "unsafe", setting, value.replace(name, meant, 1)
                    )
                yield f"the allocator has no option `{name}`{hint}", Severity.ERROR, fix
                continue
            problem = _problem(name, text)
            if problem is not None:
                fix = None
                if name in _FLAGS and text.lower() in ("true", "false"):
                    new = value.replace(f"{name}:{text}", f"{name}:{text.capitalize()}")
                    fix = setting_valued(page.sheet, "safe", setting, new)
                yield f"`{name}:{text}`: {problem}", Severity.ERROR, fix
        if pairs.get("backend") == "cudaMallocAsync":
            for name in _IGNORED:
                if name in pairs:
                    yield (
                        f"`backend:cudaMallocAsync` does not look at `{name}`",
                        (Severity.WARNING),
                        None,
                    )


def _problem(name: str, text: str) -> str | None:
    if name in _FLAGS and text not in ("True", "False"):
        return "it takes `True` or `False`"
    megabytes = whole_number(text) if name == "max_split_size_mb" else None
    if megabytes is not None and 0 <= megabytes < 20:
        return "it takes 20 and more"
    if name == "backend" and text not in ("native", "cudaMallocAsync"):
        return "it takes `native` or `cudaMallocAsync`"
    if name in ("garbage_collection_threshold", "per_process_memory_fraction"):
        try:
            number = float(text)
        except ValueError:
            return "it takes a number"
        inside = 0 < number < 1 or (name.startswith("per") and number in (0, 1))
        return None if inside else "it takes a number between 0 and 1"
    return None
