package io.github.sparkjoinery.filters.stored

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.MissingNode

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.joinery.JoineryConf
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts.{
  ArtifactStore,
  ArtifactVersion,
  BloomFilter,
  DamagedArtifactException,
  ReadingSettings,
  StoreAccess,
  StoreJson,
  Validity
}
import io.github.sparkjoinery.expressions.{EitherFilter, HashedKey, KnownFilter, MightContain}
import io.github.sparkjoinery.filters.logical.{FilterableJoin, KeyLineage}
import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.planning.plans.FileListings
import io.github.sparkjoinery.planning.terms.MayFail

/**
 * Adds stored bloom filters to equi-joins. They are used if one side is a relation with a bloom filter in the artifact
 * store. Rows of the other side that match nothing are then dropped before they are shuffled:
 * {{{
 *   Join f.tailnum = p.tailnum       Join f.tailnum = p.tailnum
 *   :- flights f                     :- Filter joinery_might_contain(f.tailnum, planes)
 *   +- planes p              ==>     :  +- flights f
 *                                    +- planes p
 * }}}
 *
 * Only sides where unmatched rows have no effect are filtered:
 *   - both sides of an inner join,
 *   - the left side of a semi join,
 *   - the side of an outer join that is not preserved.
 *
 * Spark's own rules then push the filter down to the scan. If an artifact is unusable, the query runs without it, and
 * the reason is kept with the join.
 */
object ApplyBloomFilters extends Rule[LogicalPlan] with JoinSelectionHelper with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (JoineryConf.store.isEmpty || !JoineryConf.runtimeFilter || !plan.containsPattern(JOIN)) plan
    else
      try {
        val session = SparkSession.active
        StoreAccess.open(session).fold(plan)(access => new Run(access, session).transform(plan))
      } catch {
        case StoreAccess.Trouble(failure) =>
          logWarning("No bloom filters for this query", failure)
          plan.foreach {
            case join: Join => Decision.record(
                join,
                Decision.RuntimeFilter,
                s"no bloom filters for this query: ${StoreAccess.reason(failure)}")
            case _ =>
          }
          plan
      }

  // Marks joins that are done: a subquery's plan is optimized once by itself and once as part of the query.
  private val Filtered = TreeNodeTag[Unit]("joinery_filtered")

  private class Run(access: StoreAccess, session: SparkSession) {
    private val listings = new FileListings

    /** A filter that fits a join. Its data and its validity have not been checked yet. */
    private case class Candidate(join: Join, fitting: FilteringSide, version: ArtifactVersion, keys: Seq[HashedPair]) {
      val count: Long = version.count("keys")
      // The query's files are listed before the source is checked, so the query reads no file that the check misses.
      private val files = fitting.source.files.map(listings.listed(_))
      private val side = fitting.copy(source = fitting.source.copy(files = files))

      // The filter is cached for later queries. The listing is not, as it would be out of date.
      @volatile private var lists = false
      private def slow = if (lists) Validity.slowListing(side.source) else "the artifact store"
      // Right(Left) says how the filter is damaged; Right(Right) is the filter and the files that it does not cover.
      private val pending = access.begin(version.folder.toString, slow) {
        ArtifactStore.bloomFilter(access, version) match {
          case Left(damage) => Left(damage)
          case Right(filter) =>
            lists = true
            fitting.source.files.foreach(files => listings.listed(files.location).list())
            Right((filter, Validity.uncovered(version, side.source, session)))
        }
      }

      def await(): Either[String, Condition] = pending.await() match {
        case Right(Right((filter, uncovered))) =>
          val stored = KnownFilter(filter, isSelective = whereOf(version).isDefined)
          uncovered.fold[Either[String, (Expression, String)]](Right((stored, name(version)))) { uncovered =>
            AddedKeys.buildFilter(side, keys.map(_.mine), uncovered, stored.isSelective, session).map(added =>
              (EitherFilter(stored, added), s"${name(version)} and ${added.source}"))
          }.left.map(unused(version, _)).map { case (whole, from) =>
            Condition(
              side.other,
              MightContain(HashedKey.hash(keys.map(_.theirs)), whole, pauses = !MayFail.onPartialKeys(side.other)),
              from,
              isNarrow(side, version),
              fitting.source.files.map(_.location)
            )
          }
        case Right(Left(damage)) => instead(damage)
        case Left(reason) => Left(unused(version, reason))
      }

      /** Tries an older version, which has to pass the same checks. */
      private def instead(damage: String): Either[String, Condition] = for {
        older <- access.begin(s"instead of ${version.folder}")(ArtifactStore.instead(access, version, damage)).await()
          .flatMap(identity).left.map(unused(version, _))
        candidate <- fit(join, side, older)
        condition <- candidate.await()
      } yield condition
    }

    /**
     * @param isNarrow
     *   true if the query has no predicate that would select fewer keys than the filter has
     * @param reads
     *   the index of the files that the filter covers
     */
    private case class Condition(
        on: LogicalPlan,
        test: MightContain,
        from: String,
        isNarrow: Boolean,
        reads: Option[FileIndex]) {
      def hasKeysOf(other: Condition): Boolean =
        on == other.on && test.hash.canonicalized == other.test.hash.canonicalized
    }

    private def isNarrow(side: FilteringSide, version: ArtifactVersion): Boolean =
      whereOf(version).isDefined || !side.predicates.exists(isLikelySelective)

    def transform(plan: LogicalPlan): LogicalPlan = {
      val joins = plan.collect { case join: Join => join -> sidesOf(join) }.filter(_._2.nonEmpty)
      // starts all reads before it waits for any: first the lists of versions, then the fitting filters
      val stored = joins.flatMap(_._2).map(_.source.identity).distinct
        .map(relation => relation -> access.begin(relation)(ArtifactStore.versions(access, BloomFilter.Kind, relation)))
        .map { case (relation, versions) => relation -> versions.await() }.toMap
      val fitting = joins.map { case (join, sides) =>
        join -> sides.flatMap(side => fit(join, side, stored(side.source.identity)))
      }
      val outcomes = new java.util.IdentityHashMap[LogicalPlan, Seq[Either[String, Condition]]]()
      fitting.foreach { case (join, candidates) =>
        val outcome = candidates.map(_.flatMap(_.await()))
        if (outcome.nonEmpty) outcomes.put(join, outcome)
      }
      if (outcomes.isEmpty) plan
      else {
        val used = outcomes.values.asScala.flatten.flatMap(_.toOption).flatMap(_.reads).toSeq
        val result =
          plan.transformDown { case join: Join if outcomes.containsKey(join) => filtered(join, outcomes.get(join)) }
        if (used.isEmpty) result else listings.replaceIn(result)(index => used.exists(_ eq index))
      }
    }

    private def sidesOf(join: Join): Seq[FilteringSide] =
      if (join.isStreaming || join.getTagValue(Filtered).isDefined) Nil
      else Seq(
        if (canPruneRight(join.joinType)) FilteringSide.find(join, join.left, join.right) else None,
        if (canPruneLeft(join.joinType)) FilteringSide.find(join, join.right, join.left) else None
      ).flatten

    /** Returns the filters that fit, those with the fewest keys first, and the reasons why others do not. */
    private def fit(
        join: Join,
        side: FilteringSide,
        stored: Either[String, Seq[Either[String, ArtifactVersion]]]): Seq[Either[String, Candidate]] =
      stored match {
        case Left(reason) => Seq(Left(s"no bloom filter of ${side.source.identity}: $reason"))
        case Right(versions) =>
          versions.map(_.left.map(reason => s"a bloom filter of ${side.source.identity} is not used: $reason")
            .flatMap(fit(join, side, _))).sortBy(_.fold(_ => Long.MaxValue, _.count))
      }

    private def fit(join: Join, side: FilteringSide, version: ArtifactVersion): Either[String, Candidate] =
      try {
        def unfit = FilterBenefit.missing(join, side, version)
          .orElse(Validity.mismatch(version, side.source))
          .orElse(ReadingSettings.ofFilter(version, session))
          .orElse(whereOf(version).flatMap(FilterWhere.unmet(_, version, side.source, side.predicates, session)))
        side.keysFor(version).flatMap(keys => unfit.toLeft(Candidate(join, side, version, keys))).left.map(unused(
          version,
          _))
      } catch { case StoreAccess.Trouble(damage) => Left(unused(version, StoreAccess.reason(damage))) }

    private def whereOf(version: ArtifactVersion): Option[String] =
      Option(version.spec.get("where")).filterNot(_.isNull).map(_ => StoreJson.text(version.spec, "where"))

    private def name(version: ArtifactVersion): String = {
      val spec =
        try version.spec
        catch { case _: DamagedArtifactException => MissingNode.getInstance }
      val keys = spec.path("keys").elements().asScala.map(_.asText).mkString(", ")
      val where = Option(spec.get("where")).fold("")(" where " + _.asText.take(200))
      val older = if (version.standsFor.isEmpty) ""
      else s", version ${version.name}, as ${version.standsFor.map(_.reason).mkString("; ")}"
      s"the bloom filter of ${version.field("relation")} ($keys$where)$older"
    }

    private def unused(version: ArtifactVersion, reason: String): String = s"${name(version)} is not used: $reason"

    private def filtered(join: Join, outcomes: Seq[Either[String, Condition]]): Join = {
      // takes the first of several filters over the same keys, which has the fewest keys
      val conditions = outcomes.collect { case Right(condition) => condition }
      val tests = conditions.foldLeft(Vector.empty[Condition]) { (kept, condition) =>
        if (kept.exists(_.hasKeysOf(condition))) kept else kept :+ condition
      }.filterNot(isThere)
      def add(side: LogicalPlan): LogicalPlan =
        tests.filter(_.on eq side).map(_.test).reduceOption[Expression](And(_, _)).fold(side)(Filter(_, side))
      val result = if (tests.isEmpty) join else join.copy(left = add(join.left), right = add(join.right))
      result.copyTagsFrom(join)
      if (tests.nonEmpty) result.setTagValue(Filtered, ())
      if (tests.exists(_.isNarrow)) result.setTagValue(FilterableJoin.HasSufficientFilter, ())
      Decision.record(
        result,
        Decision.RuntimeFilter,
        (tests.map(test => s"rows are dropped by ${test.from}") ++ outcomes.flatMap(_.left.toOption)).mkString("; "))
      result
    }

    /** True if the plan already has the filter, perhaps further down. */
    private def isThere(condition: Condition): Boolean = {
      val below = condition.test.hash.transform { case key: Attribute =>
        KeyLineage.trace(key, condition.on) match {
          case Seq(found) => found.key
          case _ => key // a UNION, whose children have filters of their own
        }
      }
      condition.on.exists {
        case Filter(existing, _) => existing.exists {
            case test: MightContain => test.filter == condition.test.filter &&
              (test.hash.semanticEquals(condition.test.hash) || test.hash.semanticEquals(below))
            case _ => false
          }
        case _ => false
      }
    }
  }
}
