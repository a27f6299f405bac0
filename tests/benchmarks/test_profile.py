"""Each sample of a profile counts for one kind of work."""

from __future__ import annotations

from benchmarks.profile import shares

TASK = "[Executor task launch worker-1 tid=7]"


def test_a_sample_counts_for_its_innermost_known_call() -> None:
    write = f"{TASK};org/apache/spark/shuffle/sort/BypassMergeSortShuffleWriter.write"
    stacks = [
        f"{write};org/apache/spark/storage/DiskBlockObjectWriter.write;net/jpountz/lz4/LZ4BlockOutputStream.write 3",
        f"{write};org/apache/spark/storage/DiskBlockObjectWriter.write 4",
        f"{write};io/github/sparkjoinery/execution/rows/RowSort.merge;java/lang/Integer.valueOf 5",
        f"{TASK};java/lang/Thread.run 1",
    ]
    assert shares(stacks) == {
        "LZ4 and checksums of a shuffle's blocks": 3,
        "shuffle: rows into blocks": 4,
        "Joinery: sort": 5,
        "tasks: the rest": 1,
    }


def test_other_threads_count_for_their_work() -> None:
    stacks = [
        "[C2 CompilerThre tid=9];CompileBroker 8",
        "[main tid=1];org/apache/spark/sql/catalyst/rules/RuleExecutor.execute;org/codehaus/janino/Java.x 2",
        "[main tid=1];org/apache/spark/sql/catalyst/rules/RuleExecutor.execute 6",
    ]
    assert shares(stacks) == {"JIT compiler": 8, "compiler of generated code": 2, "planning": 6}
