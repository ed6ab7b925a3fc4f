"""The steps of one array on the Slurm host, each of which the next apply can go on from."""

import io
import tarfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from converter.holds.carry_out import carry_out
from converter.holds.deadline import Deadline, deadline_in
from converter.holds.errors import StaleHold
from converter.holds.mark import Mark
from converter.holds.rules import Action, Call
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_store import BY_GIT, SlurmStore
from converter.names import APPLIED_COMMITS_ANNOTATION
from converter.reconcile.fence import Fence
from converter.reconcile.record import Record
from converter.reconcile.slurm.array import Array
from converter.reconcile.slurm.submission import Submission
from converter.slurm.errors import SlurmRefused, is_unanswered
from converter.slurm.job import Job
from converter.slurm.layout import (
    CANCELLED,
    PAUSED,
    VOLUMES,
    WRITTEN,
    job_directory,
    repository_key,
    state_file,
)
from converter.slurm.session import Session
from converter.slurm.state import State, Step
from converter.slurm.tasks import spared_only_ended
from converter.times import rfc3339
from converter.volumes import parse_volumes


@dataclass(frozen=True, slots=True)
class Steps:
    """What is done to arrays of one repository under the lock of an apply.

    `commit` is what is applied, `at` an epoch of the host's clock, `cluster` and `user` are kept of
    what is submitted. Every step raises LeaseLost, SlurmRefused and SlurmUnavailable.
    """

    session: Session
    repository: str
    commit: str
    at: int
    cluster: str
    user: str

    def fence(self, fence: Fence, warn: Callable[[str], None]) -> None:
        """Keep which commit is applied. Raises Refused where it is older than the last one."""
        file = f"{self.session.directory}/applied/{repository_key(self.repository)}.json"
        try:
            known = {APPLIED_COMMITS_ANNOTATION: self.session.run("cat", file)}
        except SlurmRefused as error:
            # There is none before the first apply.
            if "No such file" not in error.complaint:
                raise
            known = {}
        kept = fence.pass_through(known, warn).get(APPLIED_COMMITS_ANNOTATION, "")
        if kept and kept != known.get(APPLIED_COMMITS_ANNOTATION):
            self.session.script("save.sh", file, data=kept.encode("utf-8"))

    def directory(self, name: str) -> str:
        """An array's own directory."""
        return job_directory(self.session.directory, self.repository, name)

    def save(self, state: State) -> State:
        """Keep what is known of an array."""
        self.session.script(
            "save.sh", self._state_file(state.name), data=state.to_json().encode("utf-8")
        )
        return state

    def submit(self, wanted: Submission) -> State:
        """Submit an array, with its gate shut, and keep its number.

        That it is being submitted is kept first: an apply that finds that, and no array, knows
        that there is none as soon as it cannot be on its way any more. Of what Slurm has refused
        nothing is kept.
        """
        directory = self.directory(wanted.name)
        command = wanted.sbatch(directory, self.commit)
        self.session.script("unpack.sh", directory, *WRITTEN, data=_packed(wanted.files))
        if wanted.suspended:
            self.mark(wanted.name, paused=True)
        # By the clock of this moment: how long it may be on its way counts from here.
        state = self.save(self._new(wanted, self.session.now))
        try:
            said = self.session.run(*command)
        except SlurmRefused as error:
            if not is_unanswered(error.complaint):
                self.session.run("rm", "-f", self._state_file(wanted.name))
            raise
        number = said.strip().partition(";")[0]
        if not number.isdecimal():
            raise SlurmRefused(f"sbatch gave no number of a job, but {said.strip()!r}")
        return self.save(replace(state, step=Step.SUBMITTED, job=int(number)))

    def adopt(self, wanted: Submission, array: Array) -> State:
        """Keep the number of an array that an apply was killed after submitting."""
        state = array.state or self._new(wanted, self.at)
        return self.save(replace(state, step=Step.SUBMITTED, job=array.numbers[0]))

    def mark(self, name: str, *, paused: bool) -> None:
        """Put the mark there, or take it away, by which a task sees that it is not to begin."""
        mark = f"{self.directory(name)}/{PAUSED}"
        self.session.run(*(("touch", mark) if paused else ("rm", "-f", mark)))

    def revive(self, name: str) -> None:
        """Take away the mark of a prune that was stopped, by which a task ends at once."""
        self.session.run("rm", "-f", f"{self.directory(name)}/{CANCELLED}")

    def open(self, jobs: tuple[Job, ...]) -> int:
        """Open the gates that are shut and ours to open; gives how many."""
        gated = [job for job in jobs if job.gated and job.gated_by_owner]
        for job in gated:
            self.session.run("scontrol", "release", job.address)
        return len(gated)

    def throttle(self, state: State, window: int) -> State:
        """Have so many tasks run at once from now on."""
        try:
            words = (f"JobId={state.job}", f"ArrayTaskThrottle={window}")
            self.session.run("scontrol", "update", *words)
        except SlurmRefused as error:
            if not spared_only_ended(error.complaint):
                raise
        return self.save(replace(state, window=window))

    def hold(self, job: Job, *, pauses: bool) -> Mark | None:
        """Place git's own hold on what waits, or lift it; gives the newer hold that is in force.

        Beside it, the job says whether git pauses it, for the release of that newer hold. Raises
        HoldError, and Conflict where it keeps changing.
        """
        store = SlurmStore(
            self.session.host,
            f"{self.session.directory}/lock",
            job,
            paused=pauses,
            epoch=self.session.epoch,
        )
        at = rfc3339(self.at)
        action = Action.HOLD if pauses else Action.RELEASE
        call = Call(action, BY_GIT, at=at, by="git", reason="suspend: true" if pauses else "")
        deadline = self._deadline()
        kept: Mark | None = None
        try:
            if carry_out(store, call, deadline).wrote:
                return None
        except StaleHold:
            kept = reading_of(store.job).mark
        store.say(deadline)
        return kept

    def volumes(self, name: str) -> tuple[str, ...]:
        """The ids by index of what was submitted; empty where its directory does not say."""
        try:
            text = self.session.run("cat", f"{self.directory(name)}/{VOLUMES}")
            return tuple(volume for volume, _ in parse_volumes(text))
        except (SlurmRefused, ValueError):
            return ()

    def end(self, state: State, record: Record) -> State:
        """Keep how an array ended. Its results are not read any more."""
        ended = self.save(replace(state, step=Step.ENDED, at=self.at, record=record))
        with suppress(SlurmRefused):
            # Somebody may have tidied it away.
            self.session.run("touch", f"{self.directory(state.name)}/ended")
        return ended

    def cancel(self, name: str, numbers: tuple[int, ...]) -> None:
        """Cancel an array, and forget it. Its directory stays, under another name, for its logs."""
        directory = self.directory(name)
        with suppress(SlurmRefused):
            # It is not there where nothing but a number of Slurm was left.
            self.session.run("touch", f"{directory}/{CANCELLED}")
        for number in numbers:
            self.session.run("scancel", str(number))
        # Before its directory: without that the state says that nothing of it was done.
        self.session.run("rm", "-f", self._state_file(name))
        kept = f"{self.session.directory}/cancelled/{repository_key(self.repository)}"
        self.session.run("mkdir", "-p", kept)
        with suppress(SlurmRefused):
            self.session.run("mv", "-T", directory, f"{kept}/{name}.{self.at}")

    def _new(self, wanted: Submission, at: int) -> State:
        return State(
            name=wanted.name,
            campaign=wanted.campaign,
            part=wanted.part,
            repository=wanted.repository,
            pipeline=wanted.pipeline,
            priority=wanted.priority,
            commit=self.commit,
            volumes_sha256=wanted.volumes_sha256,
            inputs_sha256=wanted.inputs_sha256,
            total=len(wanted.volumes),
            window=wanted.window,
            step=Step.SUBMITTING,
            at=at,
            paused=wanted.suspended,
            cluster=self.cluster,
            user=self.user,
        )

    def _deadline(self) -> Deadline:
        self.session.check()
        return deadline_in(self.session.seconds)

    def _state_file(self, name: str) -> str:
        return state_file(self.session.directory, self.repository, name)


def _packed(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in sorted(files):
            data = files[name].encode("utf-8")
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            entry.mode = 0o755 if name.endswith(".sh") else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
