"""Operators are found in what ran, behind subqueries as well."""

from __future__ import annotations

from fuzz.forms import WINDOW_BY_DISTRIBUTION, final_and_initial

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


def test_a_window_is_cut_by_a_distribution_before_its_shuffle_or_behind_it() -> None:
    told = ["cut by the distribution of file:/t, when read", "cut into 3 by the distribution of t, before the shuffle"]
    others = ["cut by a sample, when read", "TimeSlice cut by the distribution of t"]
    assert [bool(WINDOW_BY_DISTRIBUTION.search(text)) for text in told + others] == [True, True, False, False]
