package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.FloatingPointKeys
import org.apache.spark.sql.types._

/** How keys are brought to the types that filters hash, the same when a filter is built and when it is asked. */
object HashedKey {

  /** Integers as the widest, floating-point numbers too; None for types that are not hashed. */
  def typeOf(key: DataType): Option[DataType] = key match {
    case ByteType | ShortType | IntegerType | LongType => Some(LongType)
    case FloatType | DoubleType => Some(DoubleType)
    case StringType | BooleanType | BinaryType | DateType | TimestampType | TimestampNTZType => Some(key)
    case _: DecimalType => Some(key)
    case _ => None // among them strings whose collation is not UTF8_BINARY: equal ones may have different bytes
  }

  /** A key as it is hashed: -0.0 and 0.0 are one, and all NaN. */
  def of(key: Expression): Option[Expression] = typeOf(key.dataType).map {
    case wide if wide == key.dataType => FloatingPointKeys.normalize(key)
    case DoubleType => FloatingPointKeys.normalize(Cast(key, DoubleType))
    case wide => Cast(key, wide)
  }

  /** `xxhash64` of several keys as they are hashed, NULL if one of them is. */
  def hash(keys: Seq[Expression]): Expression = {
    val hash = new XxHash64(keys)
    val nullKeys = keys.filter(_.nullable).map(IsNull(_): Expression).reduceOption(Or(_, _))
    nullKeys.fold[Expression](hash)(anyNull => If(anyNull, Literal(null, hash.dataType), hash))
  }

  /** The column below casts that change its type but not the key that is hashed. */
  def column(key: Expression): Option[Attribute] = key match {
    case attribute: Attribute => Some(attribute)
    case Widening(child) => column(child)
    case _ => None
  }

  private object Widening {
    def unapply(key: Expression): Option[Expression] = key match {
      case cast: Cast
          if typeOf(cast.child.dataType) == typeOf(cast.dataType) && Cast.canUpCast(
            cast.child.dataType,
            cast.dataType) &&
            cast.child.dataType.isInstanceOf[NumericType] && typeOf(cast.dataType).isDefined => Some(cast.child)
      case _ => None
    }
  }
}
