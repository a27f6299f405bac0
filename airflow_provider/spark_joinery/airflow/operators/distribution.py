"""Refresh of one skew distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_joinery.airflow.operators.refresh import RefreshOperator, as_list
from spark_joinery.metadata import DistributionSpec


class SkewDistributionOperator(RefreshOperator):
    """
    Compute the row count of every key, and the quantiles of the order column for hot keys, into the artifact store.

    .. seealso::
        :func:`spark_joinery.airflow.dags.joinery_refresh_dag` creates these tasks from a dbt manifest.

    :param partition_by: key columns (templated)
    :param order_by: order column (templated)
    :param quantiles: number of parts a hot key is split into, 2 to 1024
    :param hot_min_rows: rows that make a key hot; default: decided by the job
    :param hot_min_share: share of all rows that makes a key hot, above 0 up to 1; default: decided by the job
    :param kwargs: ``relation`` and the other arguments of
        :class:`~spark_joinery.airflow.operators.refresh.RefreshOperator`
    :raises AirflowException: while the DAG is parsed, if an argument cannot be used; the message names it
    """

    template_fields: Sequence[str] = (*RefreshOperator.template_fields, "partition_by", "order_by")
    ui_color = "#dcecf5"

    def __init__(
        self,
        *,
        partition_by: Sequence[str],
        order_by: str,
        quantiles: int = 8,
        hot_min_rows: int | None = None,
        hot_min_share: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.partition_by = partition_by
        self.order_by = order_by
        self.quantiles = quantiles
        self.hot_min_rows = hot_min_rows
        self.hot_min_share = hot_min_share
        self.check_arguments()

    def spec(self) -> DistributionSpec:
        """
        Make the specification of the artifact.

        :return: the specification, from the operator's arguments
        :raises pydantic.ValidationError: if the arguments do not make one
        """
        limits = {"min_rows": self.hot_min_rows, "min_share": self.hot_min_share}
        return DistributionSpec.model_validate(
            {
                "partition_by": as_list(self.partition_by),
                "order_by": self.order_by,
                "quantiles": self.quantiles,
                "hot": None if set(limits.values()) == {None} else limits,
            }
        )
