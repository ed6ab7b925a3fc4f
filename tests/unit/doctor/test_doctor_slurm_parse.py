"""What scripts and Slurm's tools print, as facts; the texts are those of 22.05 but where said."""

from __future__ import annotations

import pytest

from converter.doctor.slurm.facts import Ended, FileFacts, Node, Partition, SlurmFacts
from converter.doctor.slurm.parse import (
    file_facts,
    gpus_of,
    host_facts,
    minutes_of,
    slurm_facts,
    takes_jobs,
)
from converter.reconcile.queue_chain import Unknown

HOST = "==clock==\n1000\n==name==\nlogin1\n==user==\nanna\n==uid==\n1234\n==missing==\n"


def test_a_host() -> None:
    found = host_facts(HOST + "flock\ntar\n", "the Slurm host a", 999.2, 1000.5, by_ssh=True)
    assert (found.name, found.user, found.uid) == ("login1", "anna", 1234)
    assert found.missing == ("flock", "tar")
    assert (found.noise, found.skew) == ("", 0.0)


def test_what_a_login_prints_is_no_answer() -> None:
    out = f"Welcome to \x1b[1mlogin1\x1b[0m\n==hello\n{HOST}"
    found = host_facts(out, "", 1000.0, 1000.5, by_ssh=True)
    assert found.noise == "Welcome to login1 ==hello"
    assert found.user == "anna"


@pytest.mark.parametrize(
    ("before", "after", "skew"),
    [
        (1000.0, 1000.9, 0.0),
        (999.0, 1003.0, 0.0),
        (1000.9, 1001.5, 0.0),
        (940.0, 950.0, 50.0),
        (1101.0, 1105.0, -100.0),
    ],
)
def test_a_clock_is_off_by_at_least_that(before: float, after: float, skew: float) -> None:
    """The host's 1000 is any moment of that second, and was read between the two of ours."""
    assert host_facts(HOST, "", before, after, by_ssh=False).skew == skew


def test_a_host_without_its_programs() -> None:
    found = host_facts(
        "==clock==\n==name==\n==user==\n==uid==\n==missing==\n", "", 0, 1, by_ssh=False
    )
    assert (found.uid, found.user, found.skew) == (None, "", 0.0)


FILES = """\
==directory==
there
==nearest==
/shared/campaigns
==unwritable==
/shared/campaigns/lock
/shared/campaigns/state
==unheld==
/shared/campaigns/lock
==unreadable==
==mount==
nfs4   rw,relatime,vers=4.2,local_lock=none
==space==
storage:/x     264212084 24169252  71332012      26% /shared
==inodes==
storage:/x     0 0 0 - /shared
==apply==
code 74
==lock==
flock: 9: Bad file descriptor
code 65
==holder==
ci@login1/17-ab12, since 2026-12-03T05:41:18Z

==applied==
{"git.example.com/team": "0a1b"}
==limits==
./letters/limits:backoff_limit_per_index=3
./maps-part2/limits:backoff_limit_per_index=0
"""


def test_files() -> None:
    assert file_facts(FILES) == FileFacts(
        kind="there",
        nearest="/shared/campaigns",
        unwritable=("/shared/campaigns/lock", "/shared/campaigns/state"),
        unheld="/shared/campaigns/lock",
        mount="nfs4   rw,relatime,vers=4.2,local_lock=none",
        free_kib=71332012,
        free_inodes=None,
        lock=Ended(65, "flock: 9: Bad file descriptor"),
        applying=Ended(74),
        holder="ci@login1/17-ab12, since 2026-12-03T05:41:18Z",
        applied='{"git.example.com/team": "0a1b"}',
        tries_again={"letters": 3, "maps-part2": 0},
    )


def test_files_that_were_not_all_looked_at() -> None:
    found = file_facts(FILES.partition("==space")[0])
    assert isinstance(found, Unknown)
    assert file_facts(FILES.replace("71332012", "-")) != file_facts(FILES)


PARTITION = (
    "PartitionName=gpu AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL Default=NO QoS=N/A "
    "DefaultTime=NONE MaxNodes=UNLIMITED MaxTime=1-00:00:00 MaxCPUsPerNode=8 Nodes=n[1-2] "
    "State=UP TotalCPUs=4 JobDefaults=(null) DefMemPerNode=UNLIMITED MaxMemPerNode=500\n"
)
MAIN = (
    "PartitionName=main Default=YES MaxTime=UNLIMITED MaxCPUsPerNode=UNLIMITED State=DOWN "
    "MaxMemPerNode=UNLIMITED\n"
)
NODE = (
    "NodeName=n1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=30 CPUTot=32 CPULoad=2.10 "
    "AvailableFeatures=a100,big ActiveFeatures=a100,big Gres=gpu:a100:4(S:0-1) NodeAddr=127.0.0.1 "
    "Port=1 Version=22.05.8 OS=Linux 6.1 #1 SMP @0  RealMemory=64000 AllocMem=0 "
    "MemSpecLimit=1000 State=IDLE+DRAIN Partitions=main,gpu  BootTime=x "
    "Reason=Gres=gpu:9 Partitions=no [root@2026-12-03T05:47:30]\n"
)
SLURM = f"""\
==ping==
Slurmctld(primary) at vm is UP
==clock==
1005
==config==
Configuration data as of 1000
AccountingStorageType   = accounting_storage/none
AccountingStorageTRES   = cpu,mem=x
SlurmctldHost[0]        = vm(127.0.0.1)
PowerPlugin             =\x20
SLURM_VERSION           = 22.05.8

Slurmctld(primary) at vm is UP
==code 0==
==partitions==
{PARTITION}{MAIN}==code 0==
==nodes==
{NODE}==code 0==
==tasks==
.
.
==code 0==
==rights==
Current Association Manager state

User Records

UserName=anna(1234) DefAccount=a DefWckey= AdminLevel=Operator
==code 0==
==trial==
sbatch: Job 1 to start at 1796274745 using 1 processors on nodes n1 in partition main
==code 0==
==trial==
sbatch: error: invalid partition specified: nope
allocation failure: Invalid partition name specified
==code 1==
"""


def test_a_controller() -> None:
    found = slurm_facts(SLURM)
    assert isinstance(found, SlurmFacts)
    assert found.ping == "Slurmctld(primary) at vm is UP"
    assert (found.asked_at, found.host_epoch) == (1000, 1005)
    assert found.config == {
        "AccountingStorageType": "accounting_storage/none",
        "AccountingStorageTRES": "cpu,mem=x",
        "SlurmctldHost[0]": "vm(127.0.0.1)",
        "PowerPlugin": "",
        "SLURM_VERSION": "22.05.8",
    }
    assert found.partitions == (
        Partition("gpu", max_minutes=1440, max_cpus=8, max_memory=500),
        Partition("main", state="DOWN", default=True),
    )
    assert found.nodes == (
        Node(
            "n1",
            cpus=30,
            memory=63000,
            gpus=4,
            features=frozenset(("a100", "big")),
            partitions=frozenset(("main", "gpu")),
            up=False,
        ),
    )
    assert found.tasks == 2
    assert found.admin_level == "Operator"
    assert [trial.code for trial in found.trials] == [0, 1]
    assert found.trials[1].said == "allocation failure: Invalid partition name specified"


def test_a_controller_that_is_away() -> None:
    found = slurm_facts("==ping==\nSlurmctld(primary) at vm is DOWN\n*****\n")
    assert isinstance(found, SlurmFacts)
    assert found.config == found.nodes == found.partitions == Unknown("it was not asked")
    assert isinstance(found.tasks, Unknown)
    assert found.trials == ()


def test_one_answer_that_failed_leaves_the_others() -> None:
    text = SLURM.replace(f"{NODE}==code 0==", "slurm_load_node error: Access denied\n==code 1==")
    found = slurm_facts(text)
    assert isinstance(found, SlurmFacts)
    assert found.nodes == Unknown("slurm_load_node error: Access denied")
    assert found.tasks == 2


def test_tools_that_do_not_run() -> None:
    found = slurm_facts("scontrol: not found")
    assert isinstance(found, Unknown)
    assert "scontrol: not found" in found.why


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("UNLIMITED", None),
        ("INFINITE", None),
        ("NONE", None),
        ("", None),
        ("soon", None),
        ("00:05:00", 5),
        ("01:00:30", 60),
        ("7-00:00:00", 10080),
        ("1-02", 1560),
        ("1-02:30", 1590),
        ("30:00", 30),
        ("45", 45),
    ],
)
def test_times(text: str, minutes: int | None) -> None:
    assert minutes_of(text) == minutes


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("(null)", 0),
        ("", 0),
        ("gpu:2", 2),
        ("gpu:a100:4(S:0-1)", 4),
        ("gpu:a100:4(S:0,2),gpu:v100:2", 6),
        ("mps:400,gpu:1", 1),
        ("craynetwork:4", 0),
    ],
)
def test_gpus(gres: str, gpus: int) -> None:
    assert gpus_of(gres) == gpus


@pytest.mark.parametrize(
    ("state", "takes"),
    [
        ("IDLE", True),
        ("ALLOCATED", True),
        ("MIXED", True),
        ("IDLE+CLOUD+POWERED_DOWN", True),
        ("IDLE~", True),
        ("IDLE+DRAIN", False),
        ("ALLOCATED+DRAIN", False),
        ("DOWN", False),
        ("DOWN*", False),
        ("IDLE*", False),
        ("DOWN+NOT_RESPONDING", False),
        ("UNKNOWN", False),
    ],
)
def test_states_of_nodes(state: str, takes: bool) -> None:
    assert takes_jobs(state) is takes
