"""The base of the operators that refresh one artifact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, AirflowSkipException
from pydantic import ValidationError

from spark_joinery.airflow.operators.application import ApplicationOperator, summary
from spark_joinery.metadata import ArtifactRequest, RelationNameError
from spark_joinery.metadata.problems import problem

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context

    from spark_joinery.metadata import Spec


class RefreshOperator(ApplicationOperator):
    """
    Refresh one artifact of one relation; each kind of artifact has a subclass.

    If the source did not change, the artifact stays as it is, and the task succeeds. If the relation does not exist
    yet, the task is skipped.

    :param relation: name of the table as in SQL, ``[catalog.]schema.table`` (templated)
    :param kwargs: the arguments of :class:`~spark_joinery.airflow.operators.application.ApplicationOperator`
    """

    template_fields: Sequence[str] = ("relation", *ApplicationOperator.template_fields)

    def __init__(self, *, relation: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.relation = relation

    @abstractmethod
    def spec(self) -> Spec:
        """
        Make the specification of the artifact.

        :return: the specification, from the operator's arguments
        :raises pydantic.ValidationError: if the arguments do not make one
        """

    def request(self) -> ArtifactRequest:
        """
        Make the request to the job.

        :return: the request; templates in it are rendered once the task runs
        :raises AirflowFailException: if an argument cannot be used; the message names it
        """
        if not isinstance(self.relation, str):
            raise self._refusal([f"relation: expected the name of a table, found {self.relation!r}"])
        try:
            return ArtifactRequest.of_table(self.relation, self.spec())
        except ValidationError as error:
            raise self._refusal(_problems(error)) from None
        except RelationNameError as error:
            raise self._refusal([f"relation: {error}"]) from None

    def check_arguments(self) -> None:
        """
        Refuse unusable arguments while the DAG is parsed; the run checks the values that only it knows.

        Called at the end of each operator's ``__init__``.

        :raises AirflowFailException: the DAG's import error, which names the arguments
        """
        try:
            self.spec()
        except ValidationError as error:
            if problems := _problems(error, skip_late=True):
                raise self._refusal(problems) from None
            return
        if not _is_late(self.relation):
            self.request()

    def requests(self) -> list[ArtifactRequest]:
        """
        The artifact to refresh.

        :return: the one request
        :raises AirflowFailException: if an argument cannot be used; the message names it
        """
        return [self.request()]

    def outcome(self, results: list[dict[str, Any]], context: Context) -> dict[str, Any]:
        """
        Make the task's result.

        :param results: of the one artifact
        :param context: of the task instance
        :return: the fields of :class:`spark_joinery.jobs.RefreshResult`
        :raises AirflowSkipException: if the relation does not exist yet
        :raises AirflowFailException: if it failed, and trying again cannot help
        :raises AirflowException: if it failed
        """
        (result,) = results
        if result["status"] == "skipped":
            raise AirflowSkipException(f"{result['relation']}: {result['reason']}")
        if result["status"] == "failed":
            raise (AirflowException if result["retryable"] else AirflowFailException)(summary(result))
        return result

    def _refusal(self, problems: list[str]) -> AirflowFailException:
        return AirflowFailException(f"{type(self).__name__} '{self.task_id}': {'; '.join(problems)}")


def as_list(value: Sequence[str]) -> list[str]:
    """
    Make a list of the column names that a DAG file gives.

    :param value: a list, a tuple, or the result of a mapped task, which is neither
    :return: a list; a text is returned as it is, so that the specification refuses it
    """
    is_listing = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    return list(value) if is_listing else value  # type: ignore[return-value]


def _problems(error: ValidationError, skip_late: bool = False) -> list[str]:
    """
    Name the arguments that do not make a specification.

    :param error: from the specification
    :param skip_late: leave out arguments whose values only a run knows
    :return: one text per problem
    """
    found = []
    for e in error.errors():
        if not (skip_late and _is_late(e["input"])):
            # ("hot", "min_rows") of the specification is the argument hot_min_rows; ("keys", 0) is keys
            argument = "_".join(part for part in e["loc"] if isinstance(part, str))
            found.append(f"{argument}: {problem(e)}" if argument else problem(e))
    return found


def _is_late(value: object) -> bool:
    """
    Tell whether a value is known only when the task runs.

    :param value: of an argument
    :return: whether it is, or holds, a Jinja template or the output of another task
    """
    if isinstance(value, str):
        return "{{" in value or "{%" in value
    if isinstance(value, (list, tuple)):
        return any(map(_is_late, value))
    if isinstance(value, dict):
        return any(map(_is_late, value.values()))
    # the output of another task; Airflow's common base class of such values is private
    return hasattr(value, "resolve")
