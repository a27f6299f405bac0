package io.github.sparkjoinery

import scala.collection.mutable
import scala.util.Random

import io.github.sparkjoinery.Pairwise._

/**
 * Few queries over many dimensions in which every two values still meet. A query has one value of each of `common`, and
 * many columns that have one of each of `own`.
 *
 * @param allowed
 *   whether some values may meet. Every two that may meet must fit into some query.
 * @param apart
 *   names of unrelated dimensions, whose values need not all meet
 */
class Pairwise(
    common: Seq[Dimension],
    own: Seq[Dimension],
    allowed: Case => Boolean,
    seed: Long,
    apart: Set[Set[String]] = Set.empty) {
  private val random = new Random(seed)

  /**
   * Greedy: each query, and each of its columns, starts from a pair not seen yet, then adds the values with most new
   * pairs.
   */
  def queries(columns: Int): Seq[(Case, Seq[Case])] = {
    val open = openPairs
    val found = mutable.ArrayBuffer.empty[(Case, Seq[Case])]
    while (open.nonEmpty) {
      val first = fill(open.head.toMap, common ++ own, open)
      val shared = first.filter { case (name, _) => common.exists(_._1 == name) }
      val cases = mutable.ArrayBuffer.empty[Case]
      var stuck = false
      while (cases.size < columns && !stuck) {
        val start = open.iterator.map(shared ++ _).find(values =>
          values.size > shared.size && agrees(values, shared) && allowed(values))
        stuck = start.isEmpty && cases.nonEmpty
        if (!stuck) {
          val column = fill(start.getOrElse(shared), common ++ own, open)
          open --= pairs(column)
          cases += column
        }
      }
      found += shared -> cases.toSeq
    }
    found.toSeq
  }

  /** One query drawn from the whole product. */
  def draw(columns: Int): (Case, Seq[Case]) = {
    val none = mutable.LinkedHashSet.empty[Pair]
    val shared = fill(Map.empty, common, none)
    shared -> Seq.fill(columns)(fill(shared, common ++ own, none))
  }

  private def openPairs: mutable.LinkedHashSet[Pair] = {
    val all = for {
      Seq((a, xs), (b, ys)) <- (common ++ own).combinations(2).toVector if !apart(Set(a, b))
      x <- xs
      y <- ys if allowed(Map(a -> x, b -> y))
    } yield ordered(a -> x, b -> y)
    mutable.LinkedHashSet(random.shuffle(all): _*)
  }

  private def agrees(values: Case, shared: Case): Boolean = shared.forall { case (name, value) =>
    values(name) == value
  }

  private def fill(start: Case, dimensions: Seq[Dimension], open: collection.Set[Pair]): Case = {
    val missing = random.shuffle(dimensions.filterNot(dimension => start.contains(dimension._1)))
    complete(start, missing.toList, open).getOrElse(sys.error(s"nothing goes with $start"))
  }

  private def complete(values: Case, missing: List[Dimension], open: collection.Set[Pair]): Option[Case] =
    missing match {
      case Nil => Some(values)
      case (name, choices) :: rest =>
        random.shuffle(choices.filter(choice => allowed(values + (name -> choice))))
          .sortBy(choice => -values.count(item => open.contains(ordered(item, name -> choice))))
          .iterator.map(choice => complete(values + (name -> choice), rest, open)).find(_.isDefined).flatten
    }

  private def pairs(values: Case): Seq[Pair] =
    values.toSeq.combinations(2).map(pair => ordered(pair.head, pair(1))).toVector

  private def ordered(a: (String, String), b: (String, String)): Pair = if (a._1 < b._1) Seq(a, b) else Seq(b, a)
}

object Pairwise {

  /** The values of some dimensions, by their names. */
  type Case = Map[String, String]
  type Dimension = (String, Seq[String])
  private type Pair = Seq[(String, String)]

  /** True under `make soak`, which combines all values. */
  val isSoak: Boolean = sys.env.get("JOINERY_SOAK").contains("true")

  /** Few cases in which every two values of some dimensions meet, or all cases under `make soak`. */
  def cases(dimensions: Dimension*): Seq[Case] =
    if (isSoak) dimensions.foldLeft(Seq[Case](Map.empty)) { case (found, (name, values)) =>
      for (one <- found; value <- values) yield one + (name -> value)
    }
    else new Pairwise(dimensions, Nil, _ => true, seed = 1).queries(columns = 1).map(_._1)
}
