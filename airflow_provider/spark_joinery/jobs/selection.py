"""Choose among the artifacts that a dbt project declares."""

from __future__ import annotations

from collections.abc import Iterable

from spark_joinery.errors import JoineryError
from spark_joinery.metadata import ArtifactRequest, split_name


class UnknownNameError(JoineryError):
    """A name that no declared artifact has."""


def select(requests: list[ArtifactRequest], names: Iterable[str]) -> list[ArtifactRequest]:
    """Keep the requests of the named relations.

    Args:
        requests: All requests.
        names: dbt unique ids, relation identities, or plain names ("flights"); a string may hold several; none
            keeps all.

    Returns:
        The requests whose relation is named, in their order.

    Raises:
        UnknownNameError: If a name fits no request.

    Example:
        >>> select(manifest.requests, ["flights", "source.shop.raw.orders"])
    """
    wanted = [name for text in names for name in text.replace(",", " ").split()]
    if not wanted:
        return requests
    known = {name for request in requests for name in _names(request)}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        ids = ", ".join(sorted({request.unique_id or request.relation for request in requests}))
        raise UnknownNameError(f"Nothing to refresh is named '{unknown[0]}'. There are: {ids}.")
    return [request for request in requests if _names(request) & set(wanted)]


def _names(request: ArtifactRequest) -> set[str]:
    plain = split_name(request.sql_name)[-1]
    return {request.unique_id, request.unique_id.rpartition(".")[2], request.relation, request.sql_name, plain} - {""}
