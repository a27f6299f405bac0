"""The JSON Schema in the package agrees with the pydantic models."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError
from spark_joinery.metadata import JoineryMeta
from spark_joinery.metadata.schema import SCHEMA_FILE, schema_text

BY = {"partition_by": ["a"], "order_by": "b"}


def test_the_file_is_what_the_models_generate() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run: python -m spark_joinery.metadata.schema"


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ({"distributions": [BY]}, True),
        ({"distributions": [{**BY, "quantiles": 1024, "hot": {"min_rows": 1, "min_share": 1}}]}, True),
        ({"bloom_filters": [{"keys": ["a", "b"], "where": "x = 1", "fpp": 0.5}]}, True),
        ({"range_indexes": [{"start": "a", "end": "b", "columns": ["c"]}, {"point": "p"}]}, True),
        ({}, False),
        ([], False),
        ({"distribution": [BY]}, False),
        ({"distributions": BY}, False),
        ({"distributions": [{"partition_by": "a", "order_by": "b"}]}, False),
        ({"distributions": [{"partition_by": [], "order_by": "b"}]}, False),
        ({"distributions": [{"partition_by": ["a", "a"], "order_by": "b"}]}, False),
        ({"distributions": [{**BY, "order_by": ""}]}, False),
        ({"distributions": [{**BY, "quantiles": 1}]}, False),
        ({"distributions": [{**BY, "quantiles": 1025}]}, False),
        ({"distributions": [{**BY, "quantiles": "8"}]}, False),
        ({"distributions": [{**BY, "hot": {}}]}, False),
        ({"distributions": [{**BY, "hot": {"min_share": 0}}]}, False),
        ({"bloom_filters": [{"keys": ["a"], "fpp": 0}]}, False),
        ({"bloom_filters": [{"where": "x = 1"}]}, False),
        ({"range_indexes": [{}]}, False),
        ({"range_indexes": [{"start": "a"}]}, False),
        ({"range_indexes": [{"start": "a", "end": "b", "point": "c"}]}, False),
    ],
)
def test_schema_and_models_agree(value: Any, valid: bool) -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(value) is valid
    if valid:
        JoineryMeta.model_validate(value)
    else:
        with pytest.raises(ValidationError):
            JoineryMeta.model_validate(value)
