"""Operators are found in the plan that ran, also after subqueries."""

from __future__ import annotations

from fuzz.forms import WINDOW_PARTS, final_and_initial

PLAN = """AdaptiveSparkPlan isFinalPlan=true
+- == Final Plan ==
   ResultQueryStage 2
   +- SortMergeLastJoin
      :- Project [subquery#1]
      :  :  +- Subquery subquery#1
      :  :     +- AdaptiveSparkPlan isFinalPlan=true
                  +- == Final Plan ==
                     LastRowPerKey
                  +- == Initial Plan ==
                     AfterRight
                     +- Exchange
      +- CarryOver
+- == Initial Plan ==
   BroadcastLastJoin
   :- Project [subquery#1]
   :  :  +- Subquery subquery#1
   :  :     +- AdaptiveSparkPlan isFinalPlan=true
               +- == Final Plan ==
                  LastRowPerKey
               +- == Initial Plan ==
                  AfterRight
   +- TimeSlice
"""


def test_what_ran_goes_on_behind_a_subquery() -> None:
    final, initial = final_and_initial(PLAN)
    assert [name for name in ("SortMergeLastJoin", "LastRowPerKey", "CarryOver") if name not in final] == []
    assert [name for name in ("AfterRight", "BroadcastLastJoin", "TimeSlice") if name in final] == []
    assert [name for name in ("AfterRight", "BroadcastLastJoin", "TimeSlice") if name not in initial] == []


def test_a_plan_without_adaptive_execution_is_what_ran() -> None:
    plan = "SortMergeLastJoin\n:- Scan\n+- CarryOver"
    assert final_and_initial(plan) == (plan, "")


def test_a_cut_window_names_the_source_of_its_cuts() -> None:
    parts = "CopyRows xxhash64(k#1, 42), orderedlong(t#2, false), {}"
    sources = ["3 parts by a sample", "64 parts by the distribution of file:/t"]
    assert [WINDOW_PARTS.findall(parts.format(source)) for source in sources] == [["a sample"], ["the distribution"]]
    assert WINDOW_PARTS.findall("TimeSlice cut by the distribution of t") == []
