"""Links from a task to its pages outside Airflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.providers.common.compat.sdk import BaseOperatorLink

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import BaseOperator, TaskInstanceKey


class _AddressLink(BaseOperatorLink):
    """A link to an address that the task has found out."""

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        """
        Find the address; Airflow asks in the worker, when the task ends.

        :param operator: the task
        :param ti_key: which of its instances
        :return: the address; "" if there is none
        """
        addresses: dict[str, str] = getattr(operator, "addresses", {})
        return addresses.get(self.name, "")


class SparkUILink(_AddressLink):
    """Spark's UI while the application of a task runs."""

    @property
    def name(self) -> str:
        """The button's name."""
        return "Spark UI"


class SkewReportLink(_AddressLink):
    """The report on the artifacts that a task has refreshed; needs ``report_dir`` in the connection."""

    @property
    def name(self) -> str:
        """The button's name."""
        return "Skew report"


class DriverLogLink(_AddressLink):
    """All that Spark's driver has printed; needs ``report_dir`` and ``report_values`` in the connection."""

    @property
    def name(self) -> str:
        """The button's name."""
        return "Driver log"
