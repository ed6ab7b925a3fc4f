"""Takes rules of `campaigns apply` out, one at a time, and shows which tests notice.

    .venv/bin/python tests/mutations.py [NAME ...]

Each mutation is a change of the source, with the tests that have to fail with it, and to pass
without it: those of its rule in docs/guarantees.md. Ends with code 1 when one of them passes all
the same. Takes about a quarter of an hour, so it is no part of `make test`. The checkout must be
clean, and is again at the end.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Mutation:
    """`old`, which stands once in `file`, becomes `new`; `tests` are those that must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS = (
    Mutation(
        "finished-runs-again",
        "converter/reconcile/rules.py",
        "return record is not None and _belongs(record, part, live)",
        "return False",
        (
            "test_a_campaign_with_a_record_is_finished_also_after_its_jobs_time_to_live",
            "test_a_recorded_campaign_stays_finished_when_its_job_is_reaped",
        ),
    ),
    Mutation(
        "record-of-any-job",
        "converter/reconcile/rules.py",
        "if present is not None and annotation(present, JOB_UID_ANNOTATION) != record.job_uid:",
        "if False:",
        (
            "test_a_record_of_another_job_does_not_count",
            "test_a_record_counts_for_its_own_job_only",
        ),
    ),
    Mutation(
        "records-do-not-count-as-parts",
        "converter/reconcile/live.py",
        "(Role.CAMPAIGN, Role.VOLUMES, Role.STATUS)",
        "(Role.CAMPAIGN, Role.VOLUMES)",
        (
            "test_they_differ_also_where_nothing_but_records_is_left",
            "test_a_record_alone_keeps_the_campaign_from_running_as_other_parts",
        ),
    ),
    Mutation(
        "lost-job-is-made-again",
        "converter/reconcile/rules.py",
        "        _lost,\n",
        "",
        (
            "test_a_configmap_without_a_job_or_a_record_may_have_finished_and_is_not_run_again",
            "test_a_deleted_job_of_a_campaign_is_not_run_again",
        ),
    ),
    Mutation(
        "spoilt-record",
        "converter/reconcile/rules.py",
        "        _unreadable_record,\n",
        "",
        (
            "test_a_record_that_cannot_be_read_leaves_the_campaign_alone",
            "test_a_spoilt_record_leaves_its_campaign_alone",
        ),
    ),
    Mutation(
        "deleted-job-counts-as-alive",
        "converter/reconcile/rules.py",
        "        _being_deleted,\n",
        "",
        (
            "test_a_job_that_is_being_deleted_is_not_taken_for_one_that_runs",
            "test_a_job_that_is_being_deleted_is_not_called_unchanged",
        ),
    ),
    Mutation(
        "volumes-are-shared",
        "converter/reconcile/planner.py",
        "return self.claims.objection(campaign, new)",
        'return ""',
        (
            "test_a_new_campaign_waits_for_one_that_is_unfinished",
            "test_a_volume_that_is_being_worked_on_is_not_started_again",
        ),
    ),
    Mutation(
        "new-and-paused-is-queued",
        "converter/queues/kueue.py",
        "return Prepared(_unqueued(job) if paused else job)",
        "return Prepared(job)",
        (
            "test_a_new_paused_campaign_is_created_outside_the_queue",
            "test_new_and_paused_campaigns_never_start_a_pod_and_complete_when_resumed",
        ),
    ),
    Mutation(
        "no-hand-off",
        "converter/queues/kueue.py",
        "return Prepared(body, _suspended_only(job))",
        "return Prepared(body)",
        ("test_prepare", "test_without_the_hand_off_a_pod_would_start_with_no_admission"),
    ),
    Mutation(
        "held-back-is-not-paused",
        "converter/reconcile/planner.py",
        "if suspended or not reason:",
        "if not reason:",
        (
            "test_a_campaign_that_is_held_back_is_paused_but_not_resumed",
            "test_a_campaign_that_is_held_back_is_paused_all_the_same",
        ),
    ),
    Mutation(
        "hold-is-overridden",
        "converter/reconcile/pause.py",
        "        if mark is not None:\n            return Decision(Move.KEEP",
        "        if False:\n            return Decision(Move.KEEP",
        (
            "test_a_held_workload_stays_held_and_that_is_said",
            "test_a_held_workload_is_not_made_active",
        ),
    ),
    Mutation(
        "held-is-pruned",
        "converter/reconcile/plan.py",
        "held = [target for target in self.unwanted if target.hold]",
        "held: list[Target] = []",
        ("test_a_held_campaign_is_not_pruned", "test_git_waits_for_the_release_of_a_hold"),
    ),
    Mutation(
        "hold-may-be-lost",
        "converter/reconcile/queue_rules.py",
        "        _changed_under_hold,\n",
        "",
        ("test_what_could_cost_the_hold_is_held_back", "test_git_waits_for_the_release_of_a_hold"),
    ),
    Mutation(
        "part-starts-beside-the-hold",
        "converter/reconcile/rules.py",
        "_changed_parts(parts, present) or _new_part_under_hold(parts, live)",
        "_changed_parts(parts, present)",
        ("test_a_held_campaign_is_neither_started_nor_made_again",),
    ),
    Mutation(
        "what-was-deleted-under-a-hold-is-made-again",
        "converter/reconcile/rules.py",
        "        _lost,\n",
        "",
        ("test_a_held_campaign_is_neither_started_nor_made_again",),
    ),
    Mutation(
        "unreadable-hold-gives-way",
        "converter/reconcile/held.py",
        "[mark for mark in found if mark.instance is None]",
        "[]",
        ("test_which_hold_is_on_a_job",),
    ),
    Mutation(
        "late-hold-is-pruned",
        "converter/reconcile/apply.py",
        "if run.options.release_holds or not jobs:",
        "if True:",
        ("test_a_hold_that_comes_while_apply_runs_keeps_from_the_prune",),
    ),
    Mutation(
        "held-warmup-is-made-anew",
        "converter/reconcile/planner.py",
        "        if not hold:\n",
        "        if True:\n",
        ("test_a_held_warmup_is_neither_replaced_nor_pruned",),
    ),
    Mutation(
        "older-hold-replaces-a-newer-one",
        "converter/holds/rules.py",
        "mark.instance is not None and mark.instance > call.instance:",
        "False:",
        ("test_every_cell_ends_as_the_table_has_it",),
    ),
    Mutation(
        "release-starts-what-git-pauses",
        "converter/reconcile/pause.py",
        "if mark is not None and unnoted and not wish.active and not _paused_in_git(job):",
        "if False:",
        (
            "test_a_pause_that_is_held_back_is_noted_in_the_hold_once",
            "test_git_waits_for_the_release_of_a_hold",
        ),
    ),
    Mutation(
        "pause-is-believed",
        "converter/reconcile/pause.py",
        "return is_suspended(job) and bool(workloads) and not any(map(is_active, workloads))",
        "return True",
        (
            "test_a_pause_that_kueue_does_not_carry_out_does_not_hold",
            "test_a_pause_that_kueue_does_not_carry_out_is_an_error",
        ),
    ),
    Mutation(
        "kueue-s-deactivation-is-patched",
        "converter/reconcile/pause.py",
        "return Decision(Move.RENEW, tuple(reasons), why)",
        "return Decision(Move.PATCH, tuple(reasons))",
        (
            "test_what_kueue_had_deactivated_is_made_anew_with_the_reason",
            "test_reactivate_always_has_it_queued_again_with_kueues_reason",
        ),
    ),
    Mutation(
        "failed-warm-up-is-left",
        "converter/reconcile/warmup.py",
        "if is_being_deleted(present) or _has_failed(present):",
        "if is_being_deleted(present):",
        (
            "test_which_warmups_are_made_anew",
            "test_a_warmup_that_failed_is_made_anew_by_the_next_apply",
        ),
    ),
    Mutation(
        "any-workload-with-the-label",
        "converter/reconcile/units.py",
        'return claimed if claimed == controller_uid(unit) else ""',
        "return claimed",
        (
            "test_a_workload_is_of_the_job_that_controls_it",
            "test_a_workload_that_only_has_the_jobs_label_is_left_alone",
        ),
    ),
    Mutation(
        "foreign-object-is-adopted",
        "converter/reconcile/rules.py",
        "if present is None or is_ours(present, repository):",
        "if True:",
        (
            "test_an_object_of_others_is_never_touched",
            "test_objects_of_others_are_neither_adopted_nor_overwritten_nor_pruned",
        ),
    ),
    Mutation(
        "created-meanwhile-is-taken-over",
        "converter/reconcile/execute.py",
        "create=dry_run and step.verb is Verb.CREATE,",
        "",
        (
            "test_an_object_that_somebody_created_meanwhile_is_not_taken_over",
            "test_what_somebody_creates_while_apply_runs_is_not_taken_over",
        ),
    ),
    Mutation(
        "window-of-a-running-campaign",
        "converter/reconcile/queue_rules.py",
        "        _changed_window,\n",
        "",
        (
            "test_what_a_live_campaign_may_not_change_is_held_back",
            "test_a_change_that_a_live_campaign_cannot_take_is_held_back",
        ),
    ),
    Mutation(
        "queue-of-a-running-campaign",
        "converter/reconcile/queue_rules.py",
        "        _changed_queue,\n",
        "",
        ("test_another_queue", "test_what_waits_moves_and_what_runs_is_held_back"),
    ),
    Mutation(
        "newer-release-changes-what-runs",
        "converter/reconcile/planner.py",
        "settled_job(part.job.body, live_job)",
        "part.job.body",
        ("test_what_runs_is_up_to_date_for_a_newer_release",),
    ),
    Mutation(
        "priority-class-unchecked",
        "converter/reconcile/admission.py",
        "            or class_objection(each.priority_class, chain)\n",
        "",
        ("test_a_priority_class_that_does_not_exist_is_held_back",),
    ),
    Mutation(
        "quota-unchecked",
        "converter/reconcile/admission.py",
        "            or quota_objection(each, chain)\n",
        "",
        (
            "test_kueue_admits_the_largest_window_that_is_told_and_not_one_more",
            "test_a_size_that_fits_no_quota_is_held_back",
        ),
    ),
    Mutation(
        "older-commit",
        "converter/reconcile/apply.py",
        "if options.fence is None:",
        "if True:",
        ("test_an_older_commit_applied_late_sends_nothing",),
    ),
    Mutation(
        "prune-without-a-limit",
        "converter/reconcile/prune.py",
        "if len(cancelled) > allowed:",
        "if False:",
        (
            "test_prune_is_limited_to_half_of_the_campaigns_and_at_least_5",
            "test_prune_of_too_many_at_once_is_refused",
        ),
    ),
    Mutation(
        "all-or-something",
        "converter/reconcile/apply.py",
        "if options.all_or_nothing else None",
        "if False else None",
        (
            "test_all_or_nothing_sends_nothing_when_a_campaign_is_held_back",
            "test_all_or_nothing_sends_nothing_of_what_could_be_sent",
        ),
    ),
)


@contextmanager
def applied(mutation: Mutation) -> Iterator[None]:
    """The checkout with the mutation in it."""
    path = CHECKOUT / mutation.file
    before = path.read_text()
    if before.count(mutation.old) != 1:
        raise SystemExit(f"{mutation.name}: its text is not in {mutation.file} just once")
    path.write_text(before.replace(mutation.old, mutation.new))
    try:
        yield
    finally:
        path.write_text(before)


def notices(test: str) -> bool:
    """Whether a test fails. Raises SystemExit when there is none of this name."""
    expression = f"{test} and not {test}_"
    command = [sys.executable, "-m", "pytest", "-q", "--keep-cluster", "-x", "-k", expression]
    done = subprocess.run(
        [*command, "tests"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{test}: pytest ended with {done.returncode}: {done.stdout[-2000:]}")
    return done.returncode == 1


def main(names: list[str]) -> int:
    """Run the mutations of these names, or all."""
    dirty = subprocess.run(
        ["git", "status", "--porcelain", "converter"], cwd=CHECKOUT, capture_output=True, check=True
    ).stdout
    if dirty:
        raise SystemExit("converter/ has changes that are not committed: commit them first")
    unnoticed = 0
    for mutation in MUTATIONS:
        if names and mutation.name not in names:
            continue
        for test in mutation.tests:
            if notices(test):
                raise SystemExit(f"{test} fails without {mutation.name} too")
        with applied(mutation):
            for test in mutation.tests:
                noticed = notices(test)
                unnoticed += not noticed
                result = "fails" if noticed else "PASSES ALL THE SAME"
                print(f"{mutation.name}: {test} {result}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
