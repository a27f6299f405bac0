"""Links from a task to what belongs to it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.providers.common.compat.sdk import BaseOperatorLink

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import BaseOperator, TaskInstanceKey


class SparkUILink(BaseOperatorLink):
    """Spark's UI while the application of a task runs."""

    @property
    def name(self) -> str:
        """The button's name."""
        return "Spark UI"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        """
        Find the address; Airflow asks in the worker, when the task ends.

        :param operator: the task
        :param ti_key: which of its instances
        :return: the address; "" if Spark has no UI
        """
        return getattr(operator, "spark_ui", None) or ""
