"""Selection of a manifest's artifacts, for operators and sensors."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from os import PathLike
from typing import TYPE_CHECKING, get_args

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException

from spark_joinery.airflow.declared import declared
from spark_joinery.airflow.operators.refresh import as_list
from spark_joinery.errors import JoineryError
from spark_joinery.metadata import ArtifactRequest, Kind, ManifestNotReadableError, UnknownNameError, select

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import BaseOperator


def named(task: BaseOperator) -> str:
    """
    Name an operator or sensor, as its errors begin.

    :param task: the operator
    :return: class and task id
    """
    return f"{type(task).__name__} '{task.task_id}'"


def check_kinds(task: BaseOperator, kinds: Collection[Kind] | None) -> None:
    """
    Refuse unknown kinds: they would select nothing, and the task would silently do no work.

    :param task: whose argument it is
    :param kinds: of artifacts; none for all
    :raises AirflowFailException: the DAG's import error
    """
    choices = get_args(Kind)
    # this check would use up an iterator, and leave nothing for the selection
    is_listing = kinds is None or (isinstance(kinds, Collection) and not isinstance(kinds, str))
    if not is_listing or any(kind not in choices for kind in kinds or ()):
        expected = ", ".join(f"'{kind}'" for kind in choices)
        raise AirflowFailException(f"{named(task)}: kinds: expected a list of {expected}, found {kinds!r}")


def selected(
    task: BaseOperator, manifest: str | PathLike[str], names: Sequence[str] | Set[str], kinds: Collection[Kind]
) -> list[ArtifactRequest]:
    """
    Read a selection of what a manifest declares.

    :param task: the operator or sensor, for error messages
    :param manifest: path or URI
    :param names: of relations, see :func:`spark_joinery.metadata.select`; none for all
    :param kinds: of artifacts; none for all
    :return: the requests of the manifest as it is now
    :raises AirflowException: if the manifest cannot be read now
    :raises AirflowFailException: if the manifest cannot be used, or a name is not a text, or unknown
    """
    # names may be a set, unlike columns: their order has no meaning
    listed = list(names) if isinstance(names, Set) else as_list(names)
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise AirflowFailException(f"{named(task)}: select: expected a list of names, found {names!r}")
    try:
        return select(declared(manifest), listed, kinds)
    except ManifestNotReadableError as error:
        raise AirflowException(f"{named(task)}: {error}") from error
    except UnknownNameError as error:
        hint = f"{manifest} is read when the task runs: it may have changed since the DAG was parsed."
        raise AirflowFailException(f"{named(task)}: {error} {hint}") from error
    except JoineryError as error:
        raise AirflowFailException(f"{named(task)}: {error}") from error
