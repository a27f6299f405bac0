"""The report of a run: the compared queries, the operators that ran them, and the differences."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from benchmarks.report import commit, machine


@dataclass
class Difference:
    """One difference, with the smallest case of its kind.

    Attributes:
        text: Text about the difference.
        signature: Differences of the same signature are likely the same defect.
        seconds: The time until it was found.
        case: The case; None if a process died before its first case.
        sql: The query.
        static: Settings of the application.
    """

    text: str
    signature: str
    seconds: float
    case: dict[str, Any] | None
    sql: str = ""
    static: dict[str, str] = field(default_factory=dict)


class Report:
    """The summary of a run.

    Args:
        seed: The seed of the run.
        cases: The capabilities that the run draws from.
    """

    def __init__(self, seed: int, cases: list[str]) -> None:
        self.seed = seed
        self.cases = cases
        self.date = f"{datetime.now(timezone.utc):%Y-%m-%d}"
        self.commit = commit("jvm/src", "airflow_provider", "tests/fuzz")
        self.machine = machine()
        self.started = time.monotonic()
        self.lock = threading.Lock()  # rounds report from several threads
        self.seconds = 0.0
        self.rounds = 0
        self.queries: Counter[str] = Counter()
        self.not_compared: Counter[str] = Counter()
        self.forms: Counter[str] = Counter()
        self.masters: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.unprepared: Counter[str] = Counter()
        self.raised = 0
        self.settled = 0
        self.ignored = 0
        self.differences: list[Difference] = []

    def note(self, event: dict[str, Any], static: dict[str, str]) -> None:
        """Record an event of a round."""
        with self.lock:
            self._note(event, static)

    def _note(self, event: dict[str, Any], static: dict[str, str]) -> None:
        match event["event"]:
            case "started":
                self.masters[static.get("spark.master", "local[2]")] += 1
            case "run":
                name = event["capability"]
                (self.queries if event["compared"] else self.not_compared)[name] += 1
                if event["compared"]:
                    self.raised += event["raised"]
                    self.settled += event["settled"]
                    self.forms.update(f"{name}: {form}" for form in event["forms"])
                    if not event["forms"] and not event["raised"]:
                        self.forms[f"{name}: stock Spark's operators only"] += 1
            case "ignored":
                self.ignored += 1
            case "refused":
                self.not_compared[event["capability"]] += 1
                self.refusals[f"{event['capability']}: {event['error'].partition(chr(10))[0][:120]}"] += 1
            case "unprepared":
                text = f"{event['capability']}: {event['error'].partition(chr(10))[0][:300]}"
                if text not in self.unprepared:
                    print(f"fuzz: not prepared: {event['capability']}: {event['error']}", flush=True)
                self.unprepared[text] += 1
            case "difference":
                at = time.monotonic() - self.started
                found = Difference(event["difference"], event["signature"], at, event["case"], event["sql"], static)
                if all(known.signature != found.signature for known in self.differences):
                    self.differences.append(found)
                    print(f"fuzz: after {at:.0f} s: {found.text[:500]}", flush=True)
            case "reduced":
                for known in self.differences:
                    if known.signature == event["signature"] and known.static is static:
                        known.case, known.text, known.sql = event["case"], event["difference"], event["sql"]

    def note_death(self, case: dict[str, Any] | None, static: dict[str, str], reason: str) -> None:
        """Record that a process died, or was silent for too long."""
        with self.lock:
            self.differences.append(Difference(reason, "death", time.monotonic() - self.started, case, static=static))
        print(f"fuzz: a round died: {reason[:500]}", flush=True)

    def end_round(self) -> None:
        """Count a round, and print the progress."""
        with self.lock:
            self.rounds += 1
        seconds = time.monotonic() - self.started
        print(f"fuzz: {seconds:.0f} s, {self.queries.total()} queries, {len(self.differences)} differences", flush=True)

    def finish(self) -> None:
        """Stop the clock."""
        self.seconds = time.monotonic() - self.started

    def as_json(self) -> dict[str, Any]:
        """The whole report for programs."""
        with self.lock:
            return self._as_json()

    def _as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "date": self.date,
            "commit": self.commit,
            "machine": self.machine,
            "cases": self.cases,
            "seconds": round(self.seconds or time.monotonic() - self.started),
            "rounds": self.rounds,
            "masters": dict(self.masters),
            "queries": dict(self.queries),
            "raised_as_stock_did": self.raised,
            "settled_by_asking_stock_anew": self.settled,
            "ignored_differences": self.ignored,
            "not_compared": dict(self.not_compared),
            "refusals": dict(self.refusals.most_common(10)),
            "not_prepared": dict(self.unprepared.most_common(40)),
            "forms": dict(sorted(self.forms.items())),
            "differences": [vars(difference) for difference in self.differences],
        }

    def _unprepared_lines(self) -> list[str]:
        """Lines about errors of jobs that no case asked for."""
        if not self.unprepared:
            return []
        errors = [f"- {count} times {text}" for text, count in self.unprepared.most_common()]
        return [
            "",
            f"{self.unprepared.total()} queries had no tables or artifacts, by errors to look into:",
            "",
            *errors,
        ]

    def markdown(self) -> str:
        """The whole report for people."""
        lines = [
            f"# Fuzzing against stock Spark: seed {self.seed}",
            "",
            f"{self.queries.total()} queries compared in {self.seconds:.0f} s and {self.rounds} rounds; "
            f"{self.raised} of them raised an error as stock did; {self.settled} were settled by asking stock anew; "
            f"{self.not_compared.total()} more had no right answer to compare with. "
            f"Differences: {len(self.differences)}" + (f", and {self.ignored} ignored." if self.ignored else "."),
            *self._unprepared_lines(),
            "",
            "| operator and form | queries |",
            "|---|---:|",
            *(f"| {form} | {count} |" for form, count in sorted(self.forms.items())),
            "",
        ]
        for number, difference in enumerate(self.differences, 1):
            lines += [f"## Difference {number}, after {difference.seconds:.0f} s", "", difference.text[:2000], ""]
            if difference.case:
                lines += [f"Static settings: `{json.dumps(difference.static)}`", ""]
                lines += ["```sql", difference.sql, "```", "", "Save it as a file below `tests/fuzz/found/`:", ""]
                saved = {"static": difference.static, "case": difference.case}
                lines += ["```json", json.dumps(saved), "```", ""]
        return "\n".join(lines)
