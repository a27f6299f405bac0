package io.github.sparkjoinery.artifacts

import java.security.PrivilegedExceptionAction
import java.util.concurrent._
import java.util.{Collections, WeakHashMap}

import scala.util.control.NonFatal

import org.apache.hadoop.security.UserGroupInformation

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.joinery.JoineryConf
import org.apache.spark.sql.joinery.SparkSession

/**
 * One query's access to the artifact store, as the query's user and within a time limit. Background threads do the
 * reading, so a slow file system delays planning only up to the limit.
 */
class StoreAccess(val root: String, session: SparkSession) {
  private lazy val hadoop = session.sessionState.newHadoopConf()
  private lazy val user = UserGroupInformation.getCurrentUser
  private val patience = StoreAccess.patience()
  val maxSize: Long = JoineryConf.maxArtifactSize
  lazy val files: StoreFiles = new StoreFiles(root, hadoop, maxSize)

  /**
   * Starts work on a background thread.
   *
   * @param name
   *   identifies the work; while work of this name is overdue, it is neither started again nor waited for
   * @param late
   *   what the error message says took too long
   */
  def begin[T](name: String, late: => String = "the artifact store")(work: => T): Pending[T] = {
    val key = s"$root $name"
    if (StoreAccess.isOverdue(key)) return new Pending[T](key, None, late)
    val (_, asUser) = (files, user) // evaluated on the query's own thread
    val task: PrivilegedExceptionAction[T] = () => work
    val call: Callable[T] = () => asUser.doAs(task)
    new Pending[T](key, Some(StoreAccess.pool.submit(call)), late)
  }

  /** Work that a background thread is doing. */
  class Pending[T](key: String, future: Option[Future[T]], late: => String) {

    /**
     * Waits for the result, or returns the reason why there is none, on one line. Throws only if the thread is
     * interrupted.
     */
    def await(): Either[String, T] = future match {
      case None => Left("the artifact store, or the source's file system, has not answered an earlier query yet")
      case Some(work) =>
        try Right(patience.spend(work))
        catch {
          case _: TimeoutException =>
            StoreAccess.overdue.put(key, work)
            Left(s"$late took longer than spark.joinery.store.timeout (${JoineryConf.storeTimeoutMs} ms)")
          case failure: ExecutionException =>
            val reason = StoreAccess.reason(failure.getCause)
            StoreAccess.warn(s"Queries do without what the artifact store $root may have for them: $reason")
            Left(reason)
        }
    }
  }
}

object StoreAccess extends Logging {

  /** Opens the store for the query that is being planned; None if `spark.joinery.store` is not set. */
  def open(session: SparkSession): Option[StoreAccess] = JoineryConf.store.map(new StoreAccess(_, session))

  private val Threads = 8

  private val pool: ThreadPoolExecutor = {
    val threads = new ThreadPoolExecutor(
      Threads,
      Threads,
      30,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue[Runnable](),
      (work: Runnable) => {
        val thread = new Thread(work, "joinery-store")
        thread.setDaemon(true)
        thread
      }
    )
    threads.allowCoreThreadTimeOut(true)
    threads
  }

  private val overdue = new ConcurrentHashMap[String, Future[_]]()

  /** True if this work is overdue, or if overdue work occupies all threads. */
  private def isOverdue(key: String): Boolean = !overdue.isEmpty && {
    overdue.values.removeIf(_.isDone)
    overdue.containsKey(key) || overdue.size >= Threads
  }

  /** The remaining time that the planning of one query may wait. */
  private class Patience(limitMs: Long) {
    private var leftNs = TimeUnit.MILLISECONDS.toNanos(limitMs)

    def spend[T](work: Future[T]): T = synchronized {
      val start = System.nanoTime()
      try work.get(math.max(leftNs, 0), TimeUnit.NANOSECONDS)
      finally leftNs -= System.nanoTime() - start
    }
  }

  // keyed by the query's tracker, which the query shares with its subqueries
  private val patienceOfQueries = Collections.synchronizedMap(new WeakHashMap[QueryPlanningTracker, Patience]())

  private def patience(): Patience = {
    def fresh = new Patience(JoineryConf.storeTimeoutMs)
    QueryPlanningTracker.get.fold(fresh)(tracker => patienceOfQueries.computeIfAbsent(tracker, _ => fresh))
  }

  /**
   * Matches errors of reading the store that must not fail the query. They include stack overflows, which deeply nested
   * JSON can cause.
   */
  object Trouble {
    def unapply(failure: Throwable): Option[Throwable] = failure match {
      case deep: StackOverflowError => Some(deep)
      case NonFatal(other) => Some(other)
      case _ => None
    }
  }

  // messages already logged, the newest 1000
  private val warnings = Collections.newSetFromMap(Collections.synchronizedMap(
    new java.util.LinkedHashMap[String, java.lang.Boolean] {
      override def removeEldestEntry(eldest: java.util.Map.Entry[String, java.lang.Boolean]): Boolean = size > 1000
    }))

  /** Logs a warning, once per message in this JVM. */
  def warn(message: String): Unit = if (warnings.add(message)) logWarning(message)

  /** Describes the error on one line. */
  def reason(failure: Throwable): String = failure match {
    case damaged: DamagedArtifactException => damaged.getMessage
    case wrapped: java.lang.reflect.UndeclaredThrowableException if wrapped.getCause != null => reason(wrapped.getCause)
    case other =>
      val message =
        Option(other.getMessage).fold("")(text => ": " + text.linesIterator.take(1).mkString.take(200))
      s"${other.getClass.getSimpleName}$message"
  }
}
