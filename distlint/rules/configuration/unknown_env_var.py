"""DST820: environment variables that nothing reads."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.catalogue.settings import invented_variables, nearest, variables
from distlint.fixers.settings import setting_named
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._variables import STATIC, settings
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity

_CLOSED = ("NCCL_", "TORCH_NCCL_")
_FAMILIES = (*_CLOSED, "TORCH_", "DS_", "DEEPSPEED_", "ACCELERATE_", "GLOO_", "PYTORCH_", "CUDA_")
_PLUGINS = (
    "NCCL_OFI_",
    "NCCL_UCX_",
    "NCCL_UCC_",
    "NCCL_SHARP_",
    "NCCL_PLUGIN_",
    "NCCL_GPUDIRECT",
    "NCCL_FASTRAK_",
    "NCCL_SHIMNET_",
    "NCCL_TCPX_",
    "NCCL_NETDEVICE_",
)
_LOADS_PLUGIN = ("NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN", *_PLUGINS)
_OTHERS = (
    *_PLUGINS,
    "NCCL_TESTS_",
    "NCCL_LIB",
    "NCCL_INC",
    "NCCL_INSTALL",
    "NCCL_BUILD",
    "DS_BUILD_",  # one for each operation that DeepSpeed can build
)
_PROJECTS = frozenset(
    f"NCCL_{word}"
    for word in "VERSION VER ROOT ROOT_DIR HOME DIR PATH BRANCH REPO URL TAG COMMIT PREFIX SRC"
    " PACKAGE DEB EXT_VERSION TESTS".split()
)


class UnknownEnvironmentVariable(SettingsRule):
    """An environment variable is set that NCCL, torch, Accelerate and DeepSpeed do not read.

    ```bash
    export NCCL_TIMEOUT=1800  # bad: no library reads it
    export TORCH_DISTRIBUTED_DEBG=INFO  # bad: misspelled
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    export TORCH_DISTRIBUTED_DEBUG=INFO
    torchrun --nproc-per-node=8 train.py
    ```

    The timeout of collectives is an argument: `init_process_group(timeout=...)`. Add variables of
    your own to `allow-env` in the configuration of distlint.

    ## Why is this bad?

    No library reads the variable, and nothing warns about it. The timeout or the device that it is
    meant to set stays unchanged.

    ## What is reported

    In shell scripts, Slurm scripts, Dockerfiles, Makefiles, workflows and `os.environ`:

    - names that guides invent (`NCCL_TIMEOUT`, `CUDA_MEMORY_FRACTION`), with what exists instead;
    - names that are one or two letters off a variable that is read (`DS_ACCELERATORATOR`,
      `TORCH_DISTRIBUTED_DEBG`);
    - names that begin with `NCCL_` or `TORCH_NCCL_` and that no version of the two libraries reads.

    ## What is not reported

    - Variables of plugins: `NCCL_IBEXT_DISABLE`, `NCCL_OFI_*`, `NCCL_SHARP_*` and others, and any
      name if the document sets up a plugin, which may read it.
    - Variables that say where NCCL is built or installed (`NCCL_HOME`, `NCCL_VERSION`).
    - Variables that a script does not `export`.
    - A script or program in the same document reads the name.

    ## Fix safety

    Unsafe: renames a variable that is at most two letters off. It then takes effect.

    ## References

    - [NCCL environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
    - [ProcessGroupNCCL environment variables](https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html)
    """

    code = "DST820"
    name = "unknown-env-var"
    severity = Severity.WARNING

    good = (
        Example(
            title="Variables of libraries, of a plugin and of the project",
            file="launch.sh",
            code="""\
export NCCL_IB_HCA=mlx5
export NCCL_OFI_PROTOCOL=RDMA
export DS_CONFIG=ds_config.json
NCCL_LIMIT=3
torchrun --nproc_per_node=8 train.py --config "$DS_CONFIG"
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="An invented name, and a misspelled one",
            file="launch.sh",
            code="""\
export NCCL_TIMEOUT=300  # expect: DST820
export TORCH_DISTRIBUTED_DEBG=INFO  # expect: DST820
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        known = variables()
        invented = invented_variables()
        found = list(settings(page))
        closed = _CLOSED if not any(s.name.startswith(_LOADS_PLUGIN) for s in found) else ()
        for setting in found:
            name = setting.name
            if name in known or name in page.allow_env or not name.startswith(_FAMILIES):
                continue
            if name.startswith(_OTHERS) or name in _PROJECTS or self._is_read(page, name):
                continue
            if setting.form == "image" and page.sheet.kind == "dockerfile":
                if name.startswith("CUDA_") and name not in invented:
                    continue
            meant = nearest(name, known, 2 if len(name) > 8 else 1)
            instead = invented.get(name)
            if instead in known:
                meant, instead = instead, None
            if meant is None and instead is None and not name.startswith(closed):
                continue
            yield self.finding(
                page,
                f"unknown environment variable `{name}`",
                Severity.WARNING,
                (setting.name_start, setting.name_end),
                effect="no library reads it",
                help=f"Rename it to `{meant}`"
                if meant
                else f"Use {instead}"
                if instead
                else "Delete it",
                fix=setting_named(page.sheet, "unsafe", setting, meant) if meant else None,
            )

    @staticmethod
    def _is_read(page: Page, name: str) -> bool:
        text = page.text
        inside = (f"{call}({quote}{name}" for call in ("get", "getenv") for quote in "'\"")
        return any(each in text for each in (f"${name}", f"${{{name}", *inside))
