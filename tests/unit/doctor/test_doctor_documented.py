"""docs/doctor.md names the checks that there are."""

import re
from pathlib import Path

from converter.doctor.finding import Status
from converter.doctor.needs import Command

CHECKOUT = Path(__file__).parents[3]
MADE = re.compile(r'Check\(Group\.[A-Z]+, f?"([^"]+)"\)')


def test_every_check_is_documented_and_no_other() -> None:
    sources = (CHECKOUT / "converter" / "doctor").glob("*.py")
    made = {check for source in sources for check in MADE.findall(source.read_text())}
    made.remove("may-{command}")
    made |= {f"may-{command}" for command in Command}
    documented = checks_in("## The checks")
    assert len(documented) > 20
    assert sorted(documented) == sorted(made)


def test_every_check_of_a_slurm_is_documented_and_no_other() -> None:
    doctor = CHECKOUT / "converter" / "doctor"
    sources = [*(doctor / "slurm").glob("*.py"), doctor / "repository.py"]
    made = {check for source in sources for check in MADE.findall(source.read_text())} | {"commit"}
    assert sorted(checks_in("## On a Slurm")) == sorted(made)


def checks_in(heading: str) -> list[str]:
    """The checks in the first column of the table below a heading."""
    text = (CHECKOUT / "docs" / "doctor.md").read_text()
    table = text.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [check for row in rows for check in re.findall(r"`([^`]+)`", row)]


def test_every_status_is_documented() -> None:
    text = (CHECKOUT / "docs" / "doctor.md").read_text()
    assert [status for status in Status if f"| `{status}` |" not in text] == []
