"""Refresh of one bloom filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from spark_joinery.airflow.operators.refresh import RefreshOperator, as_list
from spark_joinery.metadata import BloomFilterSpec


class BloomFilterOperator(RefreshOperator):
    """
    Compute a bloom filter over the join keys of a relation into the artifact store.

    .. seealso::
        :func:`spark_joinery.airflow.dags.joinery_refresh_dag` creates these tasks from a dbt manifest.

    :param keys: join key columns, all in one filter (templated)
    :param where: Spark SQL predicate: only its rows enter the filter, and queries that have it use the filter
        (templated)
    :param fpp: probability of a false positive, between 0 and 1
    :param kwargs: ``relation`` and the other arguments of
        :class:`~spark_joinery.airflow.operators.refresh.RefreshOperator`
    :raises AirflowException: while the DAG is parsed, if an argument cannot be used; the message names it
    """

    template_fields: Sequence[str] = (*RefreshOperator.template_fields, "keys", "where")
    template_fields_renderers: ClassVar[dict[str, str]] = {"where": "sql"}
    ui_color = "#e3f1e0"

    def __init__(
        self,
        *,
        keys: Sequence[str],
        where: str | None = None,
        fpp: float = 0.01,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keys = keys
        self.where = where
        self.fpp = fpp
        self.check_arguments()

    def spec(self) -> BloomFilterSpec:
        """
        Make the specification of the artifact.

        :return: the specification, from the operator's arguments
        :raises pydantic.ValidationError: if the arguments do not make one
        """
        return BloomFilterSpec.model_validate({"keys": as_list(self.keys), "where": self.where, "fpp": self.fpp})
