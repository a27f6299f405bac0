package io.github.sparkjoinery.window.parts

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.catalyst.plans.logical.{Sample => _, _}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.{JavaBytes, JoineryConf}
import org.apache.spark.sql.types.LongType

/**
 * Cuts the hot keys of a window before its rows are shuffled (article 2): [[WindowPartsExec]] adds a column with the
 * part of each row, the shuffle goes by that column, and copies of rows at a cut go to the other parts whose frames
 * hold them. By the distribution in the artifact store, else by a sample of the child's rows, taken when it is first
 * asked for, as Spark's own range partitioning takes one.
 *
 * @param child
 *   whose rows are to be shuffled
 * @param parts
 *   most of each hot key; None: as many as pay by the sample, if any do
 * @param insisted
 *   whether keys are to be cut even if a good deal of their rows has to be copied
 * @param stored
 *   what is known of hot keys; None: take a sample
 * @param part
 *   the column with the part. Even for the parts of hot keys, odd for other keys: a hash of theirs
 * @param session
 *   that a sample is taken in
 */
private[window] final class CutAtWrite private (
    @transient private val child: LogicalPlan,
    val terms: SplitTerms,
    private val parts: Option[Int],
    private val insisted: Boolean,
    @transient private val stored: Option[StoredCuts],
    val part: Attribute,
    @transient private val session: SparkSession)
  extends WindowCuts {

  /** The terms of a task behind the shuffle, to which each part of a key is a key. */
  val termsOfParts: SplitTerms = terms.copy(keys = terms.keys :+ part, hash = part)

  /**
   * By hash, those that have cuts and those that have not. None where the query runs under settings that the terms do
   * not hold for. Who sends rows and who computes behind the shuffle ask here, so this is decided once for a plan.
   */
  @transient lazy val hotKeys: Map[Long, HotKeyParts] = if (terms.hold) findHotKeys() else Map.empty

  private def findHotKeys(): Map[Long, HotKeyParts] = {
    val known = stored.fold(sample())(_.sample)
    val wanted = parts.orElse(CutAtWrite.worthwhileParts(child, terms, known))
    val cuts = wanted.toSeq.flatMap(
      KeyCuts.ofHotKeys(known, _, if (insisted) None else Some(CutAtWrite.MostCopied))).sortBy(_._1)
    val starts = cuts.scanLeft(0) { case (start, (_, cuts)) => start + cuts.times.length + 1 }
    val numbers = CutAtWrite.partNumbers(starts.last, SQLConf.get.numShufflePartitions)
    cuts.zip(starts.zip(starts.tail)).map { case ((hash, cuts), (from, until)) =>
      hash -> HotKeyParts(cuts, numbers.slice(from, until))
    }.toMap
  }

  /**
   * The same for all cuts of equal rows in an equal way, so that their shuffle is reused. Whoever computes behind a
   * shuffle has to go by the hot keys of those who wrote it, see [[WindowPartsExec.behind]].
   *
   * @param columns
   *   of the plan that it is in
   */
  def canonicalized(columns: Seq[Attribute]): CutAtWrite =
    new CutAtWrite(child.canonicalized, terms.normalized(columns), parts, insisted, stored, CutAtWrite.AnyPart, null)

  override def equals(other: Any): Boolean = other match {
    case that: CutAtWrite => (this eq that) || part == that.part && terms == that.terms && parts == that.parts &&
      insisted == that.insisted && stored == that.stored && child == that.child
    case _ => false
  }

  override def hashCode: Int = (part, parts, insisted).hashCode

  /** What any task behind the shuffle computes. None: there are no parts. */
  def taskParts: Option[TaskParts] = {
    val hot =
      for (HotKeyParts(cuts, numbers) <- hotKeys.values if numbers.length > 1; (number, i) <- numbers.zipWithIndex)
        yield number -> KeyPart(i, cuts)
    Option.when(hot.nonEmpty)(TaskParts(hot.toMap, share = None))
  }

  private def sample(): Sample = session.withActive {
    val columns = Sample.columns(terms).zipWithIndex.map { case (column, i) => Alias(column, s"c$i")() }
    val (all, share) = (Project(AttributeSet(columns).toSeq, child), shareOfSample)
    val plan = QueryExecution.prepareExecutedPlan(
      session,
      Project(columns, if (share == 1) all else Filter(LessThan(new Rand(Literal(0L)), Literal(share)), all)))
    val fields = columns.zipWithIndex.map { case (column, i) => BoundReference(i, column.dataType, column.nullable) }
    val rows = plan.execute()
    val ofTask = new Sample.OfTask(
      terms,
      math.max(CutAtWrite.SampleSize / math.max(rows.getNumPartitions, 1), CutAtWrite.LeastOfTask))
    Sample.all(JavaBytes.collect(rows.mapPartitions { rows =>
      val project = UnsafeProjection.create(fields)
      Iterator(ofTask.take(rows, project(_)))
    })).scaled(1 / share)
  }

  /**
   * Of many rows a few: a row that is passed over in the scan costs next to nothing. All, if each must be looked at.
   */
  private def shareOfSample: Double = if (terms.shifts.exists(_.isDefined)) 1
  else {
    val count = child.stats.sizeInBytes.toDouble / EstimationUtils.getSizePerRow(child.output).toDouble
    math.min(math.max(CutAtWrite.SampleSize * CutAtWrite.Margin / count, CutAtWrite.LeastShare), 1)
  }

  override def toString: String =
    s"cut${parts.fold("")(n => s" into $n")} by ${stored.fold("a sample")(cuts => s"the distribution of ${cuts.relation}")}, before the shuffle"
}

/** @param numbers of its parts, as in the column */
private[window] case class HotKeyParts(cuts: KeyCuts, numbers: Array[Long]) {

  /** Whether a row of the part `place` is among what RANGE frames of another part hold. */
  def sends(time: Long, place: Int, part: Int): Boolean =
    place < part && time >= cuts.froms(part - 1) || place > part && time <= cuts.tos(part)
}

private[window] object CutAtWrite {
  private def newPart: Attribute = AttributeReference("joinery_part", LongType, nullable = false)()
  private val AnyPart = newPart

  private def apply(
      child: LogicalPlan,
      terms: SplitTerms,
      parts: Option[Int],
      insisted: Boolean,
      stored: Option[StoredCuts]): CutAtWrite =
    new CutAtWrite(child, terms, parts, insisted, stored, newPart, SparkSession.active)

  private val SampleSize = 65536 // of all tasks together
  private val LeastOfTask = 128
  private val Margin = 8 // for the number of rows is an estimate
  private val LeastShare = 0.01
  private val MostHaloRows = 20000 // each task before the shuffle sends so many of its own over each cut
  private val MostParts = 32
  private val MostCopied = 0.25 // of a key's rows, unless a hint insists
  private val LeastRowsPerHaloRow = 1000 // the same for the hottest key and frames of rows

  /**
   * How a window is to be cut, if it is: as a hint wants; by a stored distribution, if its hottest key would keep one
   * core busy while others wait; or by a sample, which will tell.
   *
   * @param hint
   *   how many parts
   * @param onRequestOnly
   *   whether it needs a hint, because the rows would be shuffled again above
   * @param maySample
   *   whether the window is worth a sample that no hint asked for
   */
  def of(
      child: LogicalPlan,
      terms: SplitTerms,
      hint: Option[Int],
      onRequestOnly: Boolean,
      maySample: Boolean): Option[CutAtWrite] =
    if (hint.contains(1) || hint.isEmpty && (onRequestOnly || !JoineryConf.windowSkewSplit) || reasonAgainst(
        child,
        terms).isDefined) None
    else (hint, if (JoineryConf.store.isEmpty) None else StoredCuts.of(Some(child), terms)) match {
      case (Some(_), stored) => Some(CutAtWrite(child, terms, hint, insisted = true, stored.filter(_.times.nonEmpty)))
      case (None, stored @ Some(cuts)) =>
        worthwhileParts(child, terms, cuts.sample)
          .map(parts => CutAtWrite(child, terms, Some(parts), insisted = false, stored))
      case (None, None) =>
        Option.when(
          maySample && JoineryConf.windowSkewSample && child.stats.sizeInBytes > JoineryConf.skewSplitMinPartition)(
          CutAtWrite(child, terms, None, insisted = false, None))
    }

  /** How many parts of each hot key; None: the hottest is too small, or leaves other cores enough to do. */
  private def worthwhileParts(child: LogicalPlan, terms: SplitTerms, hotKeys: Sample): Option[Int] = {
    val rows = hotKeys.times.groupMapReduce(_.hash)(_.weight)(_ + _).values
    val cores = SparkContext.getOrCreate().defaultParallelism
    Option.when(rows.nonEmpty)(rows.max).filter(_ * 2 * cores > rows.sum).flatMap { hottest =>
      val bytes = hottest * EstimationUtils.getSizePerRow(child.output).toDouble
      val each = math.max(SQLConf.get.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES), 1L)
      val most = math.max(2, math.min(cores * 2, MostParts))
      val isLarge =
        bytes > JoineryConf.skewSplitMinPartition && hottest > (terms.rowsBefore + terms.rowsAfter).toDouble * LeastRowsPerHaloRow
      Option.when(isLarge)(math.max(2, math.min(math.ceil(bytes / each).toInt, most)))
    }
  }

  /** Why a window's hot keys are better cut behind the shuffle, if at all. */
  def reasonAgainst(child: LogicalPlan, terms: SplitTerms): Option[String] =
    if (terms.carries) Some("a growing frame needs what all tasks before it have")
    else if (terms.rowsBefore + terms.rowsAfter > MostHaloRows) Some("frames are long")
    else if (!isCheap(child)) Some("the rows would have to be computed twice, once for the sample")
    else None

  /** Whether rows may be asked for twice, and are the same each time. */
  private def isCheap(plan: LogicalPlan): Boolean =
    !plan.isStreaming && !plan.containsPattern(PLAN_EXPRESSION) && (plan match {
      case Project(columns, child) => columns.forall(_.deterministic) && isCheap(child)
      case Filter(condition, child) => condition.deterministic && isCheap(child)
      case _: LogicalQueryStage => false // shuffled already
      case _: LeafNode => true
      case _ => false
    })

  /** So many even numbers, ascending, that a shuffle by them sends to partitions far from each other. */
  private[window] def partNumbers(count: Int, shufflePartitions: Int): Array[Long] = {
    val value = BoundReference(0, LongType, nullable = false)
    val partitionOf =
      UnsafeProjection.create(Seq(HashPartitioning(Seq(value), shufflePartitions).partitionIdExpression))
    val row = new GenericInternalRow(1)
    var number = 0L
    Array.tabulate(count) { i =>
      val wanted = (i.toLong * shufflePartitions / count).toInt
      do {
        number += 2
        row.setLong(0, number)
      } while (partitionOf(row).getInt(0) != wanted)
      number
    }
  }
}
