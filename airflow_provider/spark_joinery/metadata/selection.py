"""Choose among the artifacts that a dbt project declares."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from spark_joinery.errors import JoineryError
from spark_joinery.metadata.identity import split_name
from spark_joinery.metadata.models import Kind
from spark_joinery.metadata.request import ArtifactRequest

# dbt's id of a model: model.shop.orders
_MODEL = re.compile(r"model\.[^.]+\.(?P<name>.+)")


class UnknownNameError(JoineryError):
    """A name that no declared artifact has."""


def select(
    requests: list[ArtifactRequest], names: Iterable[str], kinds: Collection[Kind] = ()
) -> list[ArtifactRequest]:
    """Keep the requests of the named relations and kinds.

    Args:
        requests: All requests.
        names: dbt unique ids, relation identities, or plain names ("flights"). The name of a model selects all its
            versions ("orders"), or one of them ("orders.v2"). A string may hold several; an empty list keeps all.
        kinds: Kinds of artifact; none keeps all.

    Returns:
        The requests of the named relations, in their order; empty if none of them is of these kinds.

    Raises:
        UnknownNameError: If a name fits no request, or the strings hold no name at all: a variable that is not set
            must not select everything.

    Example:
        >>> select(manifest.requests, ["flights", "source.shop.raw.orders"])
    """
    texts = list(names)
    known = {name for request in requests for name in _names(request)}
    # a name may hold spaces and commas itself
    wanted = [name for text in texts for name in ([text] if text in known else text.replace(",", " ").split())]
    of_kinds = [request for request in requests if not kinds or request.kind in kinds]
    if not texts:
        return of_kinds
    if not wanted:
        given = " ".join(f"'{text}'" for text in texts)
        raise UnknownNameError(f"The selection {given} names nothing; without a selection everything is taken.")
    unknown = [name for name in wanted if name not in known]
    if unknown:
        ids = ", ".join(sorted({request.unique_id or request.relation for request in requests}))
        raise UnknownNameError(f"Nothing to refresh is named '{unknown[0]}'. There are: {ids}.")
    return [request for request in of_kinds if _names(request) & set(wanted)]


def _names(request: ArtifactRequest) -> set[str]:
    plain = split_name(request.sql_name)[-1]
    return {request.unique_id, *_names_in_dbt(request), request.relation, request.sql_name, plain} - {""}


def _names_in_dbt(request: ArtifactRequest) -> set[str]:
    """The names of a node. Each version of a model has the model's name, and that name with its version appended."""
    # the version comes from the manifest, as the name of a model may end like a version
    version = f".v{request.model_version}" if request.model_version else ""
    if not (model := _MODEL.fullmatch(request.unique_id.removesuffix(version))):
        return {request.unique_id.rpartition(".")[2]}
    name = model["name"]
    # the file of a model may have dots in its name
    return {name, name.rpartition(".")[2], *([name + version] if version else [])}
