"""The records of how campaigns ended, and campaigns in parts, on a real cluster."""

from __future__ import annotations

import json

from cluster.team import SLOW, Object, Team, condition, eventually


def finished(team: Team, name: str = "short") -> Object:
    """The record of a campaign that has ended, and whose Job is gone."""
    team.write_pipeline()
    team.write_campaign(name)
    team.apply()
    eventually(lambda: team.ended(name), "the campaign's end")
    team.apply()
    team.kubectl("delete", "job", name)
    record = team.get("configmap", f"campaign-{name}-status")
    assert record is not None
    return record


def patch_record(team: Team, name: str, data: dict[str, str | None]) -> None:
    patch = json.dumps({"data": data})
    record = f"campaign-{name}-status"
    team.kubectl("patch", "configmap", record, "--type=merge", f"--patch={patch}")


def test_an_end_is_recorded_before_anything_else_is_written(team: Team) -> None:
    team.write_pipeline(script='[ "$VOLUME_ID" != bad ] || exit 13')
    team.write_campaign("short", ["good", "bad"])
    team.apply()
    eventually(lambda: team.ended("short"), "the campaign's end")
    team.write_campaign("new")
    mark = team.cluster.audit_mark()
    team.apply()
    team.cluster.audit_mark()
    written = [
        each.name
        for each in team.requests(mark)
        if each.is_write and not each.dry_run and each.resource != "leases"
    ]
    assert written[0] == "campaign-short-status"
    assert set(written[1:]) == {"new", "campaign-new"}
    record = team.get("configmap", "campaign-short-status")
    assert record is not None
    assert (record["data"]["phase"], record["data"]["failedVolumes"]) == ("PartlyFailed", "bad\n")


def test_a_record_counts_for_its_own_job_only(team: Team) -> None:
    record = finished(team)
    assert "1 finished" in team.apply().stdout
    patch_record(team, "short", {"jobUid": "another"})
    done = team.apply(code=3)
    assert "may have finished" in done.stderr
    patch_record(team, "short", {"jobUid": record["data"]["jobUid"]})
    assert "1 finished" in team.apply().stdout
    assert team.get("job", "short") is None


def test_a_record_alone_keeps_the_campaign_from_running_as_other_parts(team: Team) -> None:
    finished(team)
    team.kubectl("delete", "configmap", "campaign-short")
    team.write_campaign("short", [f"v{number}" for number in range(10_001)])
    done = team.apply(code=3)
    assert "its list of volumes differs from what was applied" in done.stderr
    assert team.objects("jobs") == []


def test_a_live_job_outranks_a_record(team: Team) -> None:
    record = finished(team)
    team.write_pipeline("slow", script=SLOW)
    team.write_campaign("runs", pipeline="slow")
    team.apply()
    eventually(lambda: team.admitted("runs"), "the admission")
    metadata = record["metadata"]
    volumes = team.get("configmap", "campaign-runs")
    assert volumes is not None
    digest = volumes["metadata"]["annotations"]["gitops-campaigns.io/volumes-sha256"]
    uid = team.job("runs")["metadata"]["uid"]
    forged = {
        **{key: record[key] for key in ("apiVersion", "kind")},
        "data": {**record["data"], "jobUid": uid, "volumesSha256": digest},
        "metadata": {
            "name": "campaign-runs-status",
            "namespace": team.namespace,
            "labels": {**metadata["labels"], "gitops-campaigns.io/campaign": "runs"},
            "annotations": metadata["annotations"],
        },
    }
    team.cluster.kubectl.apply([forged])
    assert "1 unchanged" in team.apply().stdout
    assert team.status()["runs"]["phase"] == "Running"
    team.write_campaign("runs", pipeline="slow", suspend=True)
    team.apply()
    eventually(lambda: not team.pods("runs"), "the pause")


def test_a_spoilt_record_leaves_its_campaign_alone(team: Team) -> None:
    finished(team)
    patch_record(team, "short", {"volumesDone": "many", "phase": "Perhaps"})
    team.write_campaign("other")
    done = team.apply(code=3)
    assert "ConfigMap/campaign-short-status is not a record that can be read" in done.stderr
    assert team.get("job", "short") is None
    assert team.get("job", "other") is not None


def test_a_campaign_in_parts_is_paused_recorded_and_pruned_as_one(team: Team) -> None:
    """Its volumes are so large that a ConfigMap does not hold them all."""
    page = f"https://archive.example/{'p' * 180}"
    volumes = [
        {"id": f"v{n}", "images": [f"{page}/{n}/{image}.jpg" for image in range(440)]}
        for n in range(10)
    ]
    jobs = ["large-part1", "large-part2"]
    team.write_pipeline()
    team.write_campaign("kept", pipeline="work", suspend=True)
    team.write_campaign("large", volumes, window=2, suspend=True)
    mark = team.cluster.audit_mark()
    team.apply()
    assert [team.job(job)["spec"]["suspend"] for job in jobs] == [True, True]
    assert team.status()["large"]["phase"] == "Paused"
    assert team.pods_created(mark) == []

    team.write_campaign("large", volumes, window=2)
    team.apply()
    eventually(lambda: team.ended(*jobs), "the end of both parts")
    assert all(condition(team.job(job), "Complete") for job in jobs)
    team.apply()
    records = [team.get("configmap", f"campaign-{job}-status") for job in jobs]
    done = [int(record["data"]["volumesDone"]) for record in records if record]
    assert sum(done) == 10
    assert min(done) > 0
    shown = team.status()["large"]
    assert (shown["phase"], shown["done"], shown["total"]) == ("Finished", 10, 10)

    team.delete_campaign("large")
    team.apply("--prune")
    left = team.objects("jobs") + team.objects("configmaps", "gitops-campaigns.io/campaign")
    assert {each["metadata"]["labels"]["gitops-campaigns.io/campaign"] for each in left} == {"kept"}
