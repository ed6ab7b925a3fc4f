"""The machine that Slurm's tools run on: reached, with all programs, and its clock beside ours."""

from collections.abc import Iterator
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.slurm.facts import HostFacts
from converter.reconcile.queue_chain import Unknown
from converter.wording import first_few

SLURM_TOOLS: Final = ("sbatch", "scontrol", "squeue", "scancel")
# What the scripts there need beside them.
SYSTEM_TOOLS: Final = (
    *("env", "sed", "grep", "date", "timeout", "flock", "find", "tar"),
    *("cat", "tr", "mkdir", "dirname", "mv", "rm", "touch", "sync"),
)
MOST_SKEW: Final = 30

_REACHABLE: Final = Check(Group.HOST, "reachable")
_LOGIN: Final = Check(Group.HOST, "login")
_TOOLS: Final = Check(Group.HOST, "tools")
_CLOCK: Final = Check(Group.HOST, "clock")


def host_findings(host: HostFacts | Unknown) -> Iterator[Finding]:
    """Everything about the machine itself."""
    if isinstance(host, Unknown):
        yield unreachable(host.why)
        return
    yield reached(host)
    if host.by_ssh or host.noise:
        yield login_finding(host)
    yield tools_finding(host)
    if host.by_ssh or host.skew:
        yield clock_finding(host)


def unreachable(why: str) -> Finding:
    """Nothing can be run there, so nothing else can be looked at."""
    return _REACHABLE.fault(
        why,
        "correct slurm.host in converter.yaml, or have the host let you in by ssh without a "
        "question: `ssh -o BatchMode=yes HOST true`",
    )


def reached(host: HostFacts) -> Finding:
    """It answers."""
    return _REACHABLE.ok(f"{host.label} answers: {host.user or 'somebody'} on {host.name or '?'}")


def login_finding(host: HostFacts) -> Finding:
    """What a login prints would stand before every answer, and none could be read."""
    if not host.noise:
        return _LOGIN.ok("a login there prints nothing of its own")
    return _LOGIN.fault(
        f"a login there prints {host.noise!r} before what it is asked for, so that no other "
        "command can read an answer",
        "have the profile there (such as ~/.bashrc) print nothing where there is no terminal",
    )


def tools_finding(host: HostFacts) -> Finding:
    """The programs that every command runs there."""
    if not host.missing:
        return _TOOLS.ok("Slurm's tools are there, and all programs that are used beside them")
    slurm = [each for each in host.missing if each in SLURM_TOOLS]
    where = "of a login by ssh, which is not interactive" if host.by_ssh else "of this shell"
    remedy = (
        f"put Slurm's tools on the PATH {where}, or name the host that has them as slurm.host"
        if slurm
        else "have coreutils, findutils, grep, sed, tar and util-linux (flock) installed there"
    )
    return _TOOLS.fault(f"not there: {first_few(host.missing)}", remedy)


def clock_finding(host: HostFacts) -> Finding:
    """Deadlines are counted by the host's own clock, so that only times that are told differ."""
    if abs(host.skew) <= MOST_SKEW:
        return _CLOCK.ok(f"the host's clock and this machine's agree to {MOST_SKEW} s")
    side = "ahead of" if host.skew > 0 else "behind"
    return _CLOCK.warning(
        f"the host's clock is {abs(host.skew):.0f} s {side} this machine's, so that times of "
        "campaigns and holds are not what they seem here",
        "have both set by NTP",
    )
