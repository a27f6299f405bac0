"""The JSON Schema of `meta.joinery`, for editors and other languages. Write it again after a change of the models:

python -m spark_joinery.metadata.schema
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spark_joinery.metadata.models import JoineryMeta

SCHEMA_VERSION = 1
SCHEMA_FILE = Path(__file__).with_name(f"meta.joinery.v{SCHEMA_VERSION}.json")


def json_schema() -> dict[str, Any]:
    """Generate the schema from the models.

    Returns:
        JSON Schema (draft 2020-12) of the value of `meta.joinery`.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:spark-joinery:meta.joinery:v{SCHEMA_VERSION}",
        **_tidy(JoineryMeta.model_json_schema()),
    }


def _tidy(node: Any) -> Any:
    """Leave out titles, Python examples, and null as another spelling of an absent key: they help no reader."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidy = {k: _tidy(v) for k, v in node.items() if not (k == "title" or (k == "default" and v is None))}
    if isinstance(tidy.get("description"), str):
        tidy["description"] = tidy["description"].partition("\n")[0]
    if "anyOf" in tidy:
        (alternative,) = (a for a in tidy.pop("anyOf") if a != {"type": "null"})
        tidy = {**alternative, **tidy}
    return tidy


def schema_text() -> str:
    """The schema as it stands in `SCHEMA_FILE`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
