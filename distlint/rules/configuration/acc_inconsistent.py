"""DST812: values of Accelerate's configuration that do not go together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.fixers.settings import replaced
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import whole
from distlint.rules.configuration.acc_unknown_key import STATIC
from distlint.rules.settings import Page, shown, written
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.numbers import whole_number
from distlint.source.settings.values import UNKNOWN, Entry, Mapping, Scalar

_GPUS = frozenset({"MULTI_GPU", "FSDP", "DEEPSPEED", "MEGATRON_LM"})
_SECTION_OF = {
    "deepspeed_config": "DEEPSPEED",
    "fsdp_config": "FSDP",
    "megatron_lm_config": "MEGATRON_LM",
}


class InconsistentAccelerateConfig(SettingsRule):
    """Values in an Accelerate configuration contradict each other, or are not supported.

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: MULTI_GPU
    mixed_precision: no  # bad: YAML reads this as false
    num_machines: 1
    num_processes: 8  # bad: `gpu_ids` lists four GPUs
    gpu_ids: 0,1,2,3
    ```

    ## Use instead

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: MULTI_GPU
    mixed_precision: 'no'
    num_machines: 1
    num_processes: 4
    gpu_ids: 0,1,2,3
    ```

    What only the launch command knows, such as the address of the main process, can be left to it.

    ## Why is this bad?

    `accelerate launch` raises, the processes wait for each other, or some of them are missing.

    ## What is reported

    Errors:

    - no `distributed_type`, or one that Accelerate does not support; a `mixed_precision` that it
      does not support, or `no` without quotes, which YAML reads as false;
    - several machines without `main_process_ip` and `main_process_port`, if no launch script nearby
      passes them;
    - more processes on one machine than `gpu_ids` lists, or `MULTI_GPU` with a single GPU;
    - `fsdp_cpu_ram_efficient_loading: true` with `fsdp_sync_module_states: false`.

    Warnings:

    - processes that do not divide evenly over the machines: the remaining ones are not started;
    - a section such as `deepspeed_config` with another `distributed_type`, which is not read.

    ## What is not reported

    - Values that are not known, as in a template.
    - Files for SageMaker.

    ## Fix safety

    Safe: quotes `mixed_precision: no`. Nothing else has a fix: only you know which of the values is
    wrong.

    ## References

    - [Accelerate: command line](https://huggingface.co/docs/accelerate/package_reference/cli)
    - [Accelerate: FSDP](https://huggingface.co/docs/accelerate/usage_guides/fsdp)
    """

    code = "DST812"
    name = "acc-inconsistent"

    good = (
        Example(
            title="Two machines with four GPUs each",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: 'no'
num_machines: 2
num_processes: 8
machine_rank: 0
main_process_ip: 10.0.0.1
main_process_port: 29500
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Eight processes on four GPUs, and `no` without quotes",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: no  # expect: DST812
gpu_ids: 0,1,2,3
num_machines: 1
num_processes: 8  # expect: DST812
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("accelerate"):
            root = config.root
            if root.value("compute_environment") == "AMAZON_SAGEMAKER" or not root.complete:
                continue
            yield from self._words(page, root)
            yield from self._machines(page, root)
            yield from self._gpus(page, root)
            yield from self._fsdp(page, root)
            yield from self._sections(page, root)

    def _words(self, page: Page, root: Mapping) -> Iterator[Finding]:
        kind = root.entry("distributed_type")
        if kind is None:
            yield self._error(
                page,
                (root.start, root.start + len(page.text[root.start :].split("\n")[0].rstrip())),
                "`distributed_type` is missing",
                "`accelerate launch` raises a ValueError",
                "Set `distributed_type`",
            )
            return
        types = page.accelerate.values("distributed_type")
        value = kind.value.value if isinstance(kind.value, Scalar) else None
        # a bare NO is false in YAML, and Accelerate takes that for what it means
        if value not in (UNKNOWN, False) and value not in types:
            yield self._error(
                page,
                (kind.value.start, kind.value.end),
                f"unknown `distributed_type`: {written(page, kind.value)}",
                "`accelerate launch` raises a ValueError",
                f"Use one of {shown(types)}",
            )
        precision = root.entry("mixed_precision")
        value = precision.value.value if precision and isinstance(precision.value, Scalar) else None
        known = page.accelerate.values("mixed_precision")
        if precision is not None and value is False:
            start, end = precision.value.start, precision.value.end
            yield self._error(
                page,
                (start, end),
                f"`{written(page, precision.value)}` without quotes is false in YAML",
                "`accelerate launch` fails with an AttributeError",
                "Write `'no'` in quotes",
                fix=replaced(page.sheet, "safe", "Write `'no'` in quotes", (start, end, "'no'")),
            )
        if precision is not None and value is not UNKNOWN and value not in (None, False):
            if str(value).lower() not in known:
                yield self._error(
                    page,
                    (precision.value.start, precision.value.end),
                    f"unknown `mixed_precision`: {written(page, precision.value)}",
                    "`accelerate launch` raises a ValueError",
                    f"Use one of {shown(known)}",
                )

    def _machines(self, page: Page, root: Mapping) -> Iterator[Finding]:
        machines, processes = _number(root, "num_machines"), _number(root, "num_processes")
        entry = root.entry("num_machines")
        if entry is None or machines is None or machines < 2:
            return
        lacking = [
            key
            for key in ("main_process_ip", "main_process_port")
            if root.node(key) is None or root.value(key) is None
        ]
        if "main_process_ip" in lacking and not _given_nearby(page, lacking):
            yield self._error(
                page,
                (entry.start, entry.value.end),
                f"{machines} machines, but no {shown(lacking).replace(', ', ' or ')}",
                "the machines do not find each other, unless the launch command says where",
                "Set it here, or pass it to `accelerate launch`",
            )
        if processes is not None and processes % machines:
            each = processes // machines
            yield self._warning(
                page,
                root.entry("num_processes"),
                f"{processes} processes do not divide evenly over {machines} machines",
                f"each machine starts {each}, and {processes - each * machines} are missing",
                "Use a multiple of `num_machines`",
            )

    def _gpus(self, page: Page, root: Mapping) -> Iterator[Finding]:
        machines = _number(root, "num_machines") or 1
        processes, entry = _number(root, "num_processes"), root.entry("num_processes")
        ids = root.value("gpu_ids")
        if root.value("distributed_type") not in _GPUS or ids in (None, UNKNOWN, "all"):
            return
        listed = [part for part in str(ids).split(",") if part.strip()]
        count = len(listed)
        if machines != 1 or entry is None or processes is None or isinstance(ids, (list, bool)):
            return
        if processes > count:
            yield self._error(
                page,
                (entry.start, entry.value.end),
                f"{processes} processes, but `gpu_ids` lists {count}",
                '"CUDA error: invalid device ordinal" in the processes without a GPU',
                "Correct `num_processes` or `gpu_ids`",
            )
        elif count < 2 and root.value("distributed_type") == "MULTI_GPU":
            yield self._error(
                page,
                (entry.start, entry.value.end),
                "`MULTI_GPU` with a single GPU in `gpu_ids`",
                "`accelerate launch` raises a ValueError",
                "List more GPUs, or set `distributed_type: 'NO'`",
            )

    def _fsdp(self, page: Page, root: Mapping) -> Iterator[Finding]:
        section = root.mapping("fsdp_config")
        if section is None or root.value("distributed_type") != "FSDP":
            return
        entry = section.entry("fsdp_sync_module_states") or section.entry("sync_module_states")
        loads = section.value("fsdp_cpu_ram_efficient_loading")
        loads = section.value("cpu_ram_efficient_loading") if loads is None else loads
        if entry is not None and _is_false(entry) and loads is True:
            yield self._error(
                page,
                (entry.start, entry.value.end),
                "CPU-RAM-efficient loading needs `fsdp_sync_module_states`",
                "`accelerate launch` raises a ValueError",
                "Set `fsdp_sync_module_states: true`, or `fsdp_cpu_ram_efficient_loading: false`",
            )

    def _sections(self, page: Page, root: Mapping) -> Iterator[Finding]:
        kind = root.value("distributed_type")
        if not isinstance(kind, str):
            return
        for key, wanted in _SECTION_OF.items():
            entry = root.entry(key)
            section = root.mapping(key)
            if entry is None or section is None or not section.entries or kind == wanted:
                continue
            yield self._warning(
                page,
                entry,
                f"`{key}` is not read with `{kind}`",
                "Accelerate ignores it, unless the launch command asks for it",
                f"Set `distributed_type: {wanted}`, or delete the section",
                key_only=True,
            )

    def _error(
        self,
        page: Page,
        bounds: tuple[int, int],
        message: str,
        effect: str,
        help: str,
        fix: Fix | None = None,
    ) -> Finding:
        return self.finding(
            page,
            message,
            Severity.ERROR,
            bounds,
            effect=effect,
            help=help,
            fix=fix,
        )

    def _warning(
        self,
        page: Page,
        entry: Entry | None,
        message: str,
        effect: str,
        help: str,
        *,
        key_only: bool = False,
    ) -> Finding:
        assert entry is not None
        return self.finding(
            page,
            message,
            Severity.WARNING,
            (entry.start, entry.end if key_only else entry.value.end),
            effect=effect,
            help=help,
        )


def _is_false(entry: Entry) -> bool:
    return isinstance(entry.value, Scalar) and entry.value.value is False


def _number(root: Mapping, key: str) -> int | None:
    value = root.value(key)
    if isinstance(value, str) and value.isdecimal():
        return whole_number(value)
    return whole(value)


def _given_nearby(page: Page, options: list[str]) -> bool:
    """Does a launch script beside the file or above it give these options?"""
    wanted = [each.encode() for key in options for each in (key, key.replace("_", "-"))]
    scripts = ("*.sh", "*.slurm", "*.sbatch", "*.md", "*.py", "scripts/*.sh")
    return any(each in data for data in page.near(*scripts, above=3, most=50) for each in wanted)
