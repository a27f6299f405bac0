package io.github.sparkjoinery.artifacts

import java.security.PrivilegedExceptionAction
import java.util.concurrent._
import java.util.{Collections, WeakHashMap}

import scala.util.control.NonFatal

import org.apache.hadoop.security.UserGroupInformation

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.joinery.JoineryConf

/**
 * What one query may do with the store: as its own user, for a limited time. Threads in the background do the reading,
 * so that no file system, however slow, holds up planning beyond the limit.
 */
class StoreAccess(val root: String, session: SparkSession) {
  private lazy val hadoop = session.sessionState.newHadoopConf()
  private lazy val user = UserGroupInformation.getCurrentUser
  private val patience = StoreAccess.patience()
  val maxSize: Long = JoineryConf.maxArtifactSize
  lazy val files: StoreFiles = new StoreFiles(root, hadoop, maxSize)

  /**
   * Begins to work in the background.
   *
   * @param name
   *   what it works on. While work of the same name is overdue nobody begins it again, and nobody waits for it
   * @param late
   *   what takes too long when the time is up
   */
  def begin[T](name: String, late: => String = "the artifact store")(work: => T): Pending[T] = {
    val key = s"$root $name"
    if (StoreAccess.isOverdue(key)) return new Pending[T](key, None, late)
    val (_, asUser) = (files, user) // found out by the query's own thread
    val task: PrivilegedExceptionAction[T] = () => work
    val call: Callable[T] = () => asUser.doAs(task)
    new Pending[T](key, Some(StoreAccess.pool.submit(call)), late)
  }

  /** Work under way. */
  class Pending[T](key: String, future: Option[Future[T]], late: => String) {

    /** The result; or why there is none, in one line. Never fails, except by being interrupted. */
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

  /** For the query being planned; none without `spark.joinery.store`. */
  def of(session: SparkSession): Option[StoreAccess] = JoineryConf.store.map(new StoreAccess(_, session))

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

  /** Also when there is no thread left, as all wait for a file system. */
  private def isOverdue(key: String): Boolean = !overdue.isEmpty && {
    overdue.values.removeIf(_.isDone)
    overdue.containsKey(key) || overdue.size >= Threads
  }

  /** What is left of the time that planning may wait. */
  private class Patience(limitMs: Long) {
    private var leftNs = TimeUnit.MILLISECONDS.toNanos(limitMs)

    def spend[T](work: Future[T]): T = synchronized {
      val start = System.nanoTime()
      try work.get(math.max(leftNs, 0), TimeUnit.NANOSECONDS)
      finally leftNs -= System.nanoTime() - start
    }
  }

  // A query's subqueries are optimized by calls of their own; all share its tracker.
  private val patienceOfQueries = Collections.synchronizedMap(new WeakHashMap[QueryPlanningTracker, Patience]())

  private def patience(): Patience = {
    def fresh = new Patience(JoineryConf.storeTimeoutMs)
    QueryPlanningTracker.get.fold(fresh)(tracker => patienceOfQueries.computeIfAbsent(tracker, _ => fresh))
  }

  /**
   * What goes wrong with data that somebody else wrote, and must not be the query's trouble: a description may be
   * nested so deeply that reading it takes more calls than a thread's stack holds.
   */
  object Trouble {
    def unapply(failure: Throwable): Option[Throwable] = failure match {
      case deep: StackOverflowError => Some(deep)
      case NonFatal(other) => Some(other)
      case _ => None
    }
  }

  // Once is enough for a version that every query finds as it was.
  private val warnings = Collections.newSetFromMap(Collections.synchronizedMap(
    new java.util.LinkedHashMap[String, java.lang.Boolean] {
      override def removeEldestEntry(eldest: java.util.Map.Entry[String, java.lang.Boolean]): Boolean = size > 1000
    }))

  /** Tells whoever looks after the store, once in this JVM; queries go on. */
  def warn(message: String): Unit = if (warnings.add(message)) logWarning(message)

  /** In one line. */
  def reason(failure: Throwable): String = failure match {
    case damaged: DamagedArtifactException => damaged.getMessage
    case wrapped: java.lang.reflect.UndeclaredThrowableException if wrapped.getCause != null => reason(wrapped.getCause)
    case other =>
      val message =
        Option(other.getMessage).fold("")(text => ": " + text.linesIterator.nextOption().getOrElse("").take(200))
      s"${other.getClass.getSimpleName}$message"
  }
}
