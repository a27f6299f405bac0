package io.github.sparkjoinery.window

import org.apache.spark.SPARK_VERSION

import io.github.sparkjoinery.Pairwise.{Case, Dimension}

/** The dimensions of window queries over the columns of [[WindowData]]. */
object WindowDimensions {

  /** The differences from stock Spark that are allowed. */
  sealed trait Precision

  /** None, bit for bit. */
  case object Exact extends Precision

  /** A difference of n * eps * sum|x|, where x are the values of `terms` for the inputs. */
  case class Rounding(terms: String => String) extends Precision

  /** A relative difference, for numbers that do not cancel out. */
  case object Relative extends Precision

  /** @param ordered whether the answer depends on the order of rows with the same place in ORDER BY */
  case class Function(
      name: String,
      sql: String => String,
      types: Seq[String],
      ordered: String => Boolean,
      precision: String => Precision)

  private val Integers = Seq("tinyint", "smallint", "int", "bigint")
  private val Floats = Seq("float", "double", "halves", "constant")
  private val Numbers = Integers ++ Floats ++ Seq("decimal5", "decimal20", "decimal38")
  private val Summable = Numbers ++ Seq("months", "seconds")
  private val Comparable = WindowData.Inputs.map(_._1)

  /** Equal values of these can differ. */
  private val Alike = Seq("float", "double", "lcase")

  /** An infinite value makes a covariance infinite or NaN, by whether it comes first. */
  private val Infinite = Seq("float", "double")

  private val always = (_: String) => true
  private val never = (_: String) => false
  private val exact = (_: String) => Exact

  private def function(
      name: String,
      types: Seq[String],
      ordered: String => Boolean = never,
      precision: String => Precision = exact)(
      sql: String => String): Function = Function(name, sql, types, ordered, precision)

  private def moment(name: String, terms: String => String): Function =
    function(name, Numbers, precision = _ => Rounding(terms))(v => s"$name($v)")
  private def ofTwo(name: String, precision: String => Precision, types: Seq[String]): Function =
    function(name, types, ordered = Infinite.contains, precision = precision)(v => s"$name($v, y)")
  private val square = (v: String) => s"double($v) * double($v)"
  private def rounded(types: Seq[String]): String => Precision =
    v => if (types.contains(v)) Rounding(v => s"double($v)") else Exact

  val Functions: Seq[Function] = Seq(
    function("count(*)", Seq("int"))(_ => "count(*)"),
    function("count", Comparable)(v => s"count($v)"),
    function("count_if", Seq("boolean"))(v => s"count_if($v)"),
    function("sum", Summable, precision = rounded(Floats))(v => s"sum($v)"),
    function("try_sum", Summable, precision = rounded(Floats))(v => s"try_sum($v)"),
    function("avg", Summable, precision = rounded(Integers ++ Floats))(v => s"avg($v)"),
    function("try_avg", Summable, precision = rounded(Integers ++ Floats))(v => s"try_avg($v)"),
    function("min", Comparable, ordered = Alike.contains)(v => s"min($v)"),
    function("max", Comparable, ordered = Alike.contains)(v => s"max($v)"),
    function("first", Comparable, ordered = always)(v => s"first($v)"),
    function("last", Comparable, ordered = always)(v => s"last($v)"),
    function("first value", Comparable, ordered = always)(v => s"first_value($v, true)"),
    function("last value", Comparable, ordered = always)(v => s"last_value($v, true)"),
    function("any_value", Comparable, ordered = always)(v => s"any_value($v, true)"),
    function("min_by", Comparable, ordered = always)(v => s"min_by($v, y)"),
    function("max_by", Comparable, ordered = always)(v => s"max_by($v, y)"),
    function("min_by id", Comparable)(v => s"min_by($v, id)"),
    function("max_by id", Comparable)(v => s"max_by($v, id)"),
    function("max_by input", Comparable, ordered = always)(v => s"max_by(id % 2, $v)"),
    moment("stddev_samp", square),
    moment("stddev_pop", square),
    moment("var_samp", square),
    moment("var_pop", square),
    function("skewness", Seq("halves", "constant", "tinyint"), precision = _ => Relative)(v => s"skewness($v)"),
    function("kurtosis", Seq("halves", "constant", "tinyint"), precision = _ => Relative)(v => s"kurtosis($v)"),
    ofTwo("corr", _ => Relative, Seq("halves", "constant", "tinyint")),
    ofTwo("regr_slope", _ => Relative, Seq("halves", "tinyint")),
    ofTwo("covar_samp", _ => Rounding(v => s"${square(v)} + double(y * y)"), Numbers),
    ofTwo("covar_pop", _ => Rounding(v => s"${square(v)} + double(y * y)"), Numbers),
    function("bool_and", Seq("boolean"))(v => s"bool_and($v)"),
    function("bool_or", Seq("boolean"))(v => s"bool_or($v)"),
    function("bit_and", Integers)(v => s"bit_and($v)"),
    function("bit_or", Integers)(v => s"bit_or($v)"),
    function("bit_xor", Integers)(v => s"bit_xor($v)")
  )

  /** @param column of the data, without `u_` or `o_` */
  case class OrderType(name: String, column: String, near: String, far: String) {
    def hasOffsets: Boolean = near.nonEmpty

    /** False for types wider than a long, whose frames by value are left to Spark's operator. */
    def isLong: Boolean = !Seq("decimal38", "months", "seconds", "string").contains(name)
  }

  val OrderTypes: Seq[OrderType] = Seq(
    OrderType("smallint", "smallint", "4", "9"),
    OrderType("int", "int", "4", "9"),
    OrderType("bigint", "bigint", "4L", "9L"),
    OrderType("float", "float", "2.5F", "4.5F"),
    OrderType("double", "double", "2.5D", "4.5D"),
    OrderType("decimal10", "decimal10", "1.25", "2.5"),
    OrderType("decimal38", "decimal38", "1.25", "2.5"),
    OrderType("date and int", "date", "4", "9"),
    OrderType("date and days", "date", "INTERVAL '4' DAY", "INTERVAL '9' DAY"),
    OrderType("date and months", "date", "INTERVAL '1' MONTH", "INTERVAL '2' MONTH"),
    OrderType("timestamp and hours", "timestamp", "INTERVAL '40' HOUR", "INTERVAL '100' HOUR"),
    OrderType("timestamp and months", "timestamp", "INTERVAL '1' MONTH", "INTERVAL '3' MONTH"),
    OrderType("timestamp and calendar", "timestamp", "INTERVAL 2 DAYS 3 HOURS", "INTERVAL 1 MONTH 1 DAY 2 HOURS"),
    OrderType("ntz and hours", "ntz", "INTERVAL '40' HOUR", "INTERVAL '100' HOUR"),
    OrderType("ntz and months", "ntz", "INTERVAL '1' MONTH", "INTERVAL '3' MONTH"),
    OrderType("ntz and calendar", "ntz", "INTERVAL 2 DAYS 3 HOURS", "INTERVAL 1 MONTH 1 DAY 2 HOURS"),
    OrderType("months", "months", "INTERVAL '0-4' YEAR TO MONTH", "INTERVAL '0-9' YEAR TO MONTH"),
    OrderType("seconds", "seconds", "INTERVAL '0 00:00:04' DAY TO SECOND", "INTERVAL '0 00:00:09' DAY TO SECOND"),
    OrderType("string", "string", "", "")
  )

  private val Rows: Seq[String] = Seq(
    "3 PRECEDING AND CURRENT ROW",
    "2 PRECEDING AND 2 FOLLOWING",
    "1 FOLLOWING AND 4 FOLLOWING",
    "5 PRECEDING AND 2 PRECEDING",
    "CURRENT ROW AND CURRENT ROW",
    "CURRENT ROW AND 3 FOLLOWING",
    "2 FOLLOWING AND 2 FOLLOWING",
    "1000 PRECEDING AND CURRENT ROW",
    "2147483647 PRECEDING AND 2147483647 FOLLOWING",
    "CURRENT ROW AND UNBOUNDED FOLLOWING",
    "2 FOLLOWING AND UNBOUNDED FOLLOWING",
    "2 PRECEDING AND UNBOUNDED FOLLOWING",
    "UNBOUNDED PRECEDING AND 2 PRECEDING",
    "UNBOUNDED PRECEDING AND CURRENT ROW",
    "UNBOUNDED PRECEDING AND 2 FOLLOWING",
    "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
  )

  private val Values: Seq[String] = Seq(
    "far PRECEDING AND CURRENT ROW",
    "near PRECEDING AND near FOLLOWING",
    "near FOLLOWING AND far FOLLOWING",
    "far PRECEDING AND near PRECEDING",
    "CURRENT ROW AND far FOLLOWING",
    "near PRECEDING AND near PRECEDING",
    "far PRECEDING AND UNBOUNDED FOLLOWING",
    "near FOLLOWING AND UNBOUNDED FOLLOWING",
    "UNBOUNDED PRECEDING AND near PRECEDING",
    "UNBOUNDED PRECEDING AND far FOLLOWING"
  )

  private val Peers: Seq[String] = Seq(
    "CURRENT ROW AND CURRENT ROW",
    "CURRENT ROW AND UNBOUNDED FOLLOWING",
    "UNBOUNDED PRECEDING AND CURRENT ROW")

  /** The name of a frame, from which [[WindowQuery]] makes its SQL; `near` and `far` are of the order type. */
  val Frames: Seq[String] = Rows.map("ROWS " + _) ++ Values.map("RANGE " + _) ++ Peers.map("RANGE " + _) :+ "default"

  /** True unless the frame of every row begins with the first row of the partition. */
  def moves(frame: String): Boolean = frame != "default" && !frame.contains(" UNBOUNDED PRECEDING")

  /** True if the bounds of the frame are values. */
  def isByValue(frame: String): Boolean = frame.contains("near") || frame.contains("far")

  /** ORDER BY terms: one without ties, one with ties, ties resolved by a second one, two with ties. */
  val Terms: Seq[String] = Seq("unique", "tied", "tied, id", "tied, y")

  /** Dimensions that have one value for a whole query. */
  val Common: Seq[Dimension] = Seq(
    "order" -> OrderTypes.map(_.name),
    "terms" -> Terms,
    "direction" -> Seq("ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST"),
    "partition" -> Seq("", "k", "k, s", "c, d", "hot"),
    "data" -> Seq("no row", "one row", "rows", "many rows"),
    "adaptive" -> Seq("true", "false"),
    "generated" -> Seq("all", "expressions", "nothing"),
    "ansi" -> Seq("true", "false")
  )

  /** Dimensions that have a value for each column. */
  val Own: Seq[Dimension] = Seq(
    "frame" -> Frames,
    "function" -> Functions.map(_.name),
    "type" -> WindowData.Inputs.map(_._1),
    "filter" -> (if (hasFilter) Seq("", "p") else Seq("")))

  /** Whether Spark has FILTER of window functions. */
  def hasFilter: Boolean = !SPARK_VERSION.startsWith("4.1.")

  val functions: Map[String, Function] = Functions.map(function => function.name -> function).toMap
  val orderTypes: Map[String, OrderType] = OrderTypes.map(order => order.name -> order).toMap

  /** True if values may meet: the SQL is valid, and has one answer. */
  def allowed(values: Case): Boolean = {
    val terms = values.get("terms")
    val function = values.get("function").map(functions)
    val tiesAllowed =
      function.forall(f => values.get("type").map(f.ordered).getOrElse(f.types.forall(f.ordered)) == false)
    val frame = values.get("frame")
    val byValue = frame.exists(isByValue)
    terms.forall { t =>
      (t == "unique" || t == "tied, id" || tiesAllowed && !frame.exists(
        _.startsWith("ROWS"))) && (!byValue || !t.contains(","))
    } && (!byValue || values.get("order").forall(order => orderTypes(order).hasOffsets)) &&
    function.forall(f => values.get("type").forall(f.types.contains))
  }
}
