"""A task for what is declared, but cannot be computed yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowSkipException

if TYPE_CHECKING:
    from airflow.sdk import Context


class NoJobYetOperator(BaseOperator):
    """
    Skip, and say why: this version of Joinery has no job for the kind of artifact.

    A task left out of the DAG would look like an artifact that is kept fresh.

    :param kind: ``bloom_filter`` or ``range_index``
    :param relation: identity of the relation that the artifact was declared on
    """

    ui_color = "#e8e8e8"

    def __init__(self, *, kind: str, relation: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.kind = kind
        self.relation = relation

    def execute(self, context: Context) -> NoReturn:
        """
        Skip the task.

        :param context: of the task instance
        :raises AirflowSkipException: always
        """
        raise AirflowSkipException(
            f"{self.kind} of {self.relation}: no job builds this kind yet; queries run without it, with the same result"
        )
