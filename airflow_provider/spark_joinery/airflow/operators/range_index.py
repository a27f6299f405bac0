"""Refresh of one range index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_joinery.airflow.operators.refresh import RefreshOperator, as_list
from spark_joinery.metadata import RangeIndexSpec


class RangeIndexOperator(RefreshOperator):
    """
    Compute a sorted copy of a relation's intervals or points into the artifact store.

    .. seealso::
        :func:`spark_joinery.airflow.dags.joinery_refresh_dag` creates these tasks from a dbt manifest.

    :param start: lower bound of the interval, together with ``end`` (templated)
    :param end: upper bound of the interval, together with ``start`` (templated)
    :param point: column of points, in place of ``start`` and ``end`` (templated)
    :param columns: further columns that queries read from the index (templated)
    :param kwargs: ``relation`` and the other arguments of
        :class:`~spark_joinery.airflow.operators.refresh.RefreshOperator`
    :raises AirflowException: while the DAG is parsed, if an argument cannot be used; the message names it
    """

    template_fields: Sequence[str] = (*RefreshOperator.template_fields, "start", "end", "point", "columns")
    ui_color = "#f7ecd6"

    def __init__(
        self,
        *,
        start: str | None = None,
        end: str | None = None,
        point: str | None = None,
        columns: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.start = start
        self.end = end
        self.point = point
        self.columns = columns
        self.check_arguments()

    def spec(self) -> RangeIndexSpec:
        """
        Make the specification of the artifact.

        :return: the specification, from the operator's arguments
        :raises pydantic.ValidationError: if the arguments do not make one
        """
        return RangeIndexSpec.model_validate(
            {"start": self.start, "end": self.end, "point": self.point, "columns": as_list(self.columns)}
        )
