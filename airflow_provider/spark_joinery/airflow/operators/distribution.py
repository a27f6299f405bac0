"""Refresh of one skew distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.metadata import ArtifactRequest, DistributionSpec, HotKeys

if TYPE_CHECKING:
    from airflow.sdk import Context


class SkewDistributionOperator(BaseOperator):
    """
    Compute the row count of every key, and the quantiles of the order column for hot keys, into the artifact store.

    With a local master, Spark runs in the process of the task, one JVM per task, and ends with it.

    .. seealso::
        :func:`spark_joinery.airflow.dags.joinery_refresh_dag` creates these tasks from a dbt manifest.

    :param relation: name of the table as in SQL, ``[catalog.]schema.table`` (templated)
    :param partition_by: key columns (templated)
    :param order_by: order column (templated)
    :param quantiles: number of parts a hot key is split into, 2 to 1024
    :param hot_min_rows: rows that make a key hot; default: decided by the job
    :param hot_min_share: share of all rows that makes a key hot, above 0 up to 1; default: decided by the job
    :param joinery_conn_id: connection of type ``joinery`` with Spark master and artifact store
    :param store: directory of the artifact store, in place of the connection's (templated)
    :param schema: schema in which the distribution is registered as a table, in place of the connection's (templated)
    """

    template_fields: Sequence[str] = ("relation", "partition_by", "order_by", "store", "schema")
    ui_color = "#dcecf5"

    def __init__(
        self,
        *,
        relation: str,
        partition_by: list[str],
        order_by: str,
        quantiles: int = 8,
        hot_min_rows: int | None = None,
        hot_min_share: float | None = None,
        joinery_conn_id: str = JoineryHook.default_conn_name,
        store: str | None = None,
        schema: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.relation = relation
        self.partition_by = partition_by
        self.order_by = order_by
        self.quantiles = quantiles
        self.hot_min_rows = hot_min_rows
        self.hot_min_share = hot_min_share
        self.joinery_conn_id = joinery_conn_id
        self.store = store
        self.schema = schema
        self._hook: JoineryHook | None = None

    def request(self) -> ArtifactRequest:
        """
        What the job is asked to do.

        :return: the request, templates filled in where they are already rendered
        """
        limits = self.hot_min_rows, self.hot_min_share
        hot = None if limits == (None, None) else HotKeys(min_rows=self.hot_min_rows, min_share=self.hot_min_share)
        spec = DistributionSpec(
            partition_by=self.partition_by, order_by=self.order_by, quantiles=self.quantiles, hot=hot
        )
        return ArtifactRequest.of_table(self.relation, spec)

    def execute(self, context: Context) -> dict[str, Any]:
        """
        Run the job.

        :param context: of the task instance
        :return: the fields of :class:`spark_joinery.jobs.RefreshResult`
        :raises AirflowSkipException: if the relation does not exist yet
        """
        # local, because the scheduler reads DAG files without needing Spark
        from spark_joinery.jobs import refresh_distribution

        request = self.request()
        self._hook = JoineryHook(self.joinery_conn_id, store=self.store, schema=self.schema)
        with self._hook as hook:
            result = refresh_distribution(hook.get_conn(), request, hook.get_store(), schema=hook.schema)
        if result.status == "skipped":
            raise AirflowSkipException(f"{request.relation}: {result.reason}")
        if result.status == "failed":
            raise AirflowException(f"{request.relation}: {result.reason}")
        self.log.info(
            "%s: %s rows, %s hot keys, version %s", request.relation, result.rows, result.hot_keys, result.version
        )
        return asdict(result)

    def on_kill(self) -> None:
        """End Spark with the task."""
        if self._hook:
            self._hook.kill()
