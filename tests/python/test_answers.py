"""Each check of `support.answers` fails for the reason that it checks."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from support.answers import assert_same_as_stock

LAST_JOIN = (
    "SELECT l.id, r.v FROM range(3) l LAST JOIN (VALUES (0, 'a'), (0, 'b'), (2, 'c')) r(id, v) ORDER BY v USING (id)"
)


def test_right_answer_and_operator(spark: SparkSession) -> None:
    assert_same_as_stock(spark, LAST_JOIN, "VALUES (2L, 'c'), (1L, NULL), (0L, 'b') AS t(id, v)", "BroadcastLastJoin")


@pytest.mark.parametrize(
    ("oracle", "operator", "message"),
    [
        ("VALUES (2L, 'c'), (1L, NULL), (0L, 'a') AS t(id, v)", "BroadcastLastJoin", "unexpected"),
        ("VALUES (2L, 'c'), (1L, NULL), (0L, 'b'), (0L, 'b') AS t(id, v)", "BroadcastLastJoin", "missing"),
        ("VALUES (2L, 'c'), (1L, NULL), (0L, 'b') AS t(id, v)", "SortMergeLastJoin", "no SortMergeLastJoin in"),
        ("VALUES (2L, 'c'), (1L, NULL), (0L, 'b') AS t(id, v)", "LastJoin", "no LastJoin in"),
        ("VALUES (2, 'c'), (1, NULL), (0, 'b') AS t(id, v)", "BroadcastLastJoin", "IntegerType"),
    ],
)
def test_wrong_rows_counts_operator_and_types(spark: SparkSession, oracle: str, operator: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_same_as_stock(spark, LAST_JOIN, oracle, operator)
