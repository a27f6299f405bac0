package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.joinery.FloatingPointKeys
import org.apache.spark.sql.types._

/** Casts and normalizes keys before they are hashed, the same way when a filter is built and when it is probed. */
object HashedKey {

  /**
   * The type that a key is cast to: bigint for integers, double for floating-point numbers. None for types that are not
   * hashed.
   */
  def typeOf(key: DataType): Option[DataType] = key match {
    case ByteType | ShortType | IntegerType | LongType => Some(LongType)
    case FloatType | DoubleType => Some(DoubleType)
    case StringType | BooleanType | BinaryType | DateType | TimestampType | TimestampNTZType => Some(key)
    case _: DecimalType => Some(key)
    case _ => None // includes strings with a collation other than UTF8_BINARY: equal ones may have different bytes
  }

  /** Casts a key to the type that is hashed; -0.0 becomes 0.0, and every NaN the same NaN. */
  def hashable(key: Expression): Option[Expression] = typeOf(key.dataType).map {
    case wide if wide == key.dataType => FloatingPointKeys.normalize(key)
    case DoubleType => FloatingPointKeys.normalize(Cast(key, DoubleType))
    case wide => Cast(key, wide)
  }

  /** Hashes several normalized keys with `xxhash64`; NULL if one of them is NULL. */
  def hash(keys: Seq[Expression]): Expression = {
    val hash = new XxHash64(keys)
    val nullKeys = keys.filter(_.nullable).map(IsNull(_): Expression).reduceOption(Or(_, _))
    nullKeys.fold[Expression](hash)(anyNull => If(anyNull, Literal(null, hash.dataType), hash))
  }

  /** Returns the column below widening casts and normalized numbers, which do not change the hash. */
  def column(key: Expression): Option[Attribute] = key match {
    case attribute: Attribute => Some(attribute)
    case Widening(child) => column(child)
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(child)) => column(child)
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
