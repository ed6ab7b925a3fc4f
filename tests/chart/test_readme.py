"""The chart's README says what the schema, the defaults and the needs of the commands say."""

from __future__ import annotations

from chart.documents import compare_table, identities_table, values_table


def test_lists_every_value_as_schema_and_defaults_have_it() -> None:
    compare_table("## Values", values_table())


def test_names_the_command_behind_each_right_of_an_identity() -> None:
    compare_table("## The identities", identities_table())
