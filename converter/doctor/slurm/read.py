"""Looks at a Slurm, its host and its directory: four calls, of which none changes anything."""

import time
from collections.abc import Sequence

from converter.doctor.slurm.asks import Ask
from converter.doctor.slurm.facts import FileFacts, HostFacts, SiteFacts, SlurmFacts
from converter.doctor.slurm.host import SLURM_TOOLS, SYSTEM_TOOLS
from converter.doctor.slurm.parse import file_facts, host_facts, slurm_facts
from converter.model import SlurmSettings
from converter.reconcile.queue_chain import Unknown
from converter.slurm.errors import SlurmUnavailable
from converter.slurm.host import Host
from converter.slurm.layout import repository_key
from converter.slurm.survey import Survey, survey

# How long a look waits for the lock that every call takes.
_LOCK_SECONDS = 5
# The tools that are asked before submissions are tried.
_QUESTIONS = 6


def read_site(settings: SlurmSettings, repository: str, asks: Sequence[Ask]) -> SiteFacts:
    """All that can be read; what cannot keeps nothing else from being looked at."""
    host, seconds = Host(settings.host), float(settings.command_timeout)
    found = _host(host, seconds)
    if isinstance(found, Unknown):
        return SiteFacts(found, found, found, found)
    files = _files(host, settings.directory, repository, seconds)
    slurm = _slurm(host, found, asks, seconds)
    answers = not isinstance(slurm, Unknown) and not isinstance(slurm.config, Unknown)
    known: Survey | Unknown = Unknown("Slurm does not answer")
    if answers:
        known = _survey(host, settings.directory, repository, seconds)
    return SiteFacts(found, files, slurm, known)


def _host(host: Host, seconds: float) -> HostFacts | Unknown:
    before = time.time()
    try:
        answer = host.run("doctor-host.sh", *SLURM_TOOLS, *SYSTEM_TOOLS, seconds=seconds)
    except SlurmUnavailable as error:
        return Unknown(str(error))
    if "==missing==" not in answer.out:
        return Unknown(f"{host} runs no scripts of sh: {answer.reason}")
    return host_facts(answer.out, str(host), before, time.time(), by_ssh=bool(host.name))


def _files(host: Host, directory: str, repository: str, seconds: float) -> FileFacts | Unknown:
    words = (directory, repository_key(repository), str(_LOCK_SECONDS))
    try:
        answer = host.run("doctor-files.sh", *words, seconds=seconds + _LOCK_SECONDS)
    except SlurmUnavailable as error:
        return Unknown(f"{directory} could not be looked at: {error}")
    return file_facts(answer.out)


def _slurm(
    host: Host, found: HostFacts, asks: Sequence[Ask], seconds: float
) -> SlurmFacts | Unknown:
    if missing := sorted({"scontrol", "timeout"}.intersection(found.missing)):
        return Unknown(f"Slurm cannot be asked without {' and '.join(missing)}")
    words = "".join(f"{word}\n" for ask in asks for word in (*ask.words, ""))
    whole = (seconds + 1) * (_QUESTIONS + len(asks))
    try:
        answer = host.run(
            "doctor-slurm.sh", f"{seconds:.0f}", seconds=whole, data=words.encode("utf-8")
        )
    except SlurmUnavailable as error:
        return Unknown(str(error))
    return slurm_facts(answer.out)


def _survey(host: Host, directory: str, repository: str, seconds: float) -> Survey | Unknown:
    try:
        return survey(host, directory, repository, seconds=seconds)
    except SlurmUnavailable as error:
        return Unknown(str(error))
