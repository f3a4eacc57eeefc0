"""Checks of names, ports and interfaces. Other machines are contacted only when named."""

from __future__ import annotations

import contextlib
import shlex
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from distlint.doctor.machine import Check, Machine
from distlint.source.numbers import whole_number

DEFAULT_PORT = 29500
PATIENCE = 3.0
"""Seconds for a name to resolve, or for a connection."""

_LISTEN = "0A"


def rendezvous(machine: Machine) -> list[Check]:
    """Does MASTER_ADDR resolve?"""
    host = machine.environment.get("MASTER_ADDR")
    if not host:
        return [Check("rendezvous", "skipped", "MASTER_ADDR", "not set")]
    addresses = resolved(host)
    if addresses is None:
        found = f"{host} cannot be resolved on this node"
        fix = f"check `getent hosts {shlex.quote(host)}`; use the address, or fix /etc/hosts"
        return [Check("rendezvous", "error", "MASTER_ADDR", found, fix)]
    return [Check("rendezvous", "ok", "MASTER_ADDR", f"{host} resolves to {', '.join(addresses)}")]


def resolved(host: str) -> list[str] | None:
    """The addresses of a host, None if there are none in time."""
    found: list[str] = []

    def ask() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            found.extend(sorted({str(each[4][0]) for each in socket.getaddrinfo(host, None)}))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found or None


def port(machine: Machine) -> list[Check]:
    """Is the master port free on this node, and if not, whose is it?"""
    text = machine.environment.get("MASTER_PORT", "")
    number = (whole_number(text) or 0) if text.isdecimal() else DEFAULT_PORT
    if text and not (text.isdecimal() and 0 < number < 65536):
        return []  # which `launch` says
    looked = f"port {number} in /proc/net/tcp" + (
        "" if text else " (default of torchrun's static rendezvous)"
    )
    table = machine.text("/proc/net/tcp") + machine.text("/proc/net/tcp6")
    if not table:
        return [Check("port", "skipped", looked, "cannot read the list of sockets")]
    inode = _listener(table, number)
    if inode is None:
        return [Check("port", "ok", looked, "free")]
    owner = _owner(machine, inode) or "another user's process"
    if "RANK" in machine.environment:
        return [Check("port", "ok", looked, f"in use by {owner}, probably the store of this job")]
    fix = (
        "use torchrun --standalone, which picks a free port; terminate the process only if it "
        "is yours"
    )
    return [Check("port", "warning", looked, f"in use by {owner}", fix)]


def _listener(table: str, number: int) -> str | None:
    for line in table.splitlines():
        parts = line.split()
        if len(parts) > 9 and parts[3] == _LISTEN and parts[1].endswith(f":{number:04X}"):
            return parts[9]
    return None


def _owner(machine: Machine, inode: str) -> str | None:
    """The process that holds a socket, with its command."""
    wanted = f"socket:[{inode}]"
    for process in (machine.root / "proc").glob("[0-9]*"):
        try:
            if any(str(link.readlink()) == wanted for link in (process / "fd").iterdir()):
                words = (
                    (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                return f"process {process.name} ({words.strip()[:120]})"
        except OSError:
            continue
    return None


def interfaces(machine: Machine) -> list[Check]:
    """NCCL compares prefixes of interface names, gloo whole names."""
    known = machine.interfaces
    rows = [
        *_named(machine, known, "NCCL_SOCKET_IFNAME", prefix=True),
        *_named(machine, known, "GLOO_SOCKET_IFNAME", prefix=False),
    ]
    if rows:
        return rows
    shown = ", ".join(f"{name} ({state})" for name, state in known.items())
    return [
        Check(
            "ifname",
            "ok",
            "NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME",
            f"not set; interfaces: {shown}",
        )
    ]


def _named(machine: Machine, known: dict[str, str], name: str, *, prefix: bool) -> Iterator[Check]:
    value = machine.environment.get(name, "")
    if not value:
        return
    exclude = prefix and value.startswith("^")
    exact = prefix and value.lstrip("^").startswith("=")
    words = [word for word in value.lstrip("^=").split(",") if word]
    there = [
        each
        for each in known
        if any(each == w if exact or not prefix else each.startswith(w) for w in words)
    ]
    if not prefix and (absent := [word for word in words if word not in known]):
        there = []  # gloo wants every one of them
        value = ",".join(absent)
    usable = [each for each in known if each not in there] if exclude else there
    shown = ", ".join(known)
    if not usable:
        how = "starts with it" if prefix and not exact else "has that name"
        found = f"`{value}`: no interface {how}; interfaces: {shown}"
        yield Check("ifname", "error", name, found, f"unset {name}", ("DST826",))
    elif not exclude and all(known[each] == "down" for each in usable):
        yield Check("ifname", "error", name, f"{', '.join(usable)} is down", f"unset {name}")
    else:
        yield Check("ifname", "ok", name, f"`{value}` matches {', '.join(usable)}")


def connections(targets: Sequence[str]) -> list[Check]:
    """Can ``HOST:PORT`` be reached by TCP? Only what the user named is contacted."""
    return [_connected(target) for target in targets]


def _connected(target: str) -> Check:
    host, _, text = target.rpartition(":")
    try:
        address = host.strip("[]"), whole_number(text) or -1
        with socket.create_connection(address, timeout=PATIENCE):
            return Check("network", "ok", f"TCP to {target}", "connected")
    except ConnectionRefusedError:
        found = (
            "connection refused: the host is up, but nothing listens on the port (rank 0 must "
            "be running)"
        )
        return Check(
            "network",
            "error",
            f"TCP to {target}",
            found,
            f"check on the host: ss -ltn | grep {text}",
        )
    except (OSError, ValueError, OverflowError) as error:
        found = f"{error}: a firewall, a wrong address, or the host is down"
        fix = "open the port, and all ports above 1024 between the nodes, which NCCL and gloo use"
        return Check("network", "error", f"TCP to {target}", found, fix)


def hosts(machine: Machine, file: Path) -> list[Check]:
    """Passwordless ssh to the hosts of a hostfile, and the line for the MPI that is here."""
    names = []
    for line in file.read_text(errors="replace").splitlines():
        word = line.split("#")[0].split()
        if word:
            names.append(word[0].split(":")[0])
    rows = [_ssh(machine, name) for name in dict.fromkeys(names)]
    return [*rows, _mpi(machine, file, len(names))]


def _ssh(machine: Machine, host: str) -> Check:
    if host.startswith("-"):
        return Check("ssh", "error", host, "not a host name")
    options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={PATIENCE:.0f}"]
    options += ["-o", "StrictHostKeyChecking=yes"]
    if not machine.has("ssh"):
        return Check("ssh", "skipped", f"ssh {host}", "ssh is not installed")
    if machine.run(["ssh", *options, host, "true"], timeout=PATIENCE * 2) is None:
        fix = (
            f"run ssh-copy-id {shlex.quote(host)}, then once manually ssh {shlex.quote(host)} true"
        )
        return Check("ssh", "error", f"ssh {host} true", "fails, or asks for input", fix)
    return Check("ssh", "ok", f"ssh {host} true", "works without a password")


def _mpi(machine: Machine, file: Path, count: int) -> Check:
    text = machine.run(["mpirun", "--version"])
    if text is None:
        return Check("mpi", "skipped", "mpirun --version", "not installed")
    flavour = (
        "Open MPI" if "Open MPI" in text or "OpenRTE" in text else text.strip().splitlines()[0]
    )
    name = shlex.quote(str(file))
    line = f"mpirun -f {name} -n {count} -ppn 1 hostname"
    if flavour == "Open MPI":
        line = f"mpirun --hostfile {name} -n {count} --map-by ppr:1:node hostname"
    return Check("mpi", "info", "mpirun --version", flavour[:80], f"try it with {line}")
