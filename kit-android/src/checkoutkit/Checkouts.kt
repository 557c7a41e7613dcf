// The checkouts of an app, from the tap on "Buy" to their end, kept in a file. Thread-safe: a lock guards the records,
// and no request and no function of the app runs while it is held.

package checkoutkit

import java.io.File
import java.io.IOException
import kotlin.random.Random

/**
 * A checkout that has begun.
 *
 * @property contextId identifies it.
 * @property page the page to open in the browser; it carries the id.
 * @property isPosted whether the relay has the context. If not, it is in the outbox: [Checkouts.postPending].
 */
class BegunCheckout(val contextId: String, val page: String, val isPosted: Boolean)

/**
 * Begins checkouts, and keeps each until it is over, in a file. A sale never waits for the relay longer than
 * [firstTimeoutMillis]: when there is no answer by then, the page of [pages] is opened with an id that the kit
 * created, and the context stays in the file until the relay has it.
 *
 * - The record is on the disk before a request is sent and before the page opens. So a post survives the end of
 *   the process, and so does the id, by which the app asks for the state later.
 * - One tap is one context with one id: each post of it sends the same bytes.
 * - Posts that are left are sent by [postPending]. Call it when the app starts, when it comes to the front, and
 *   from a job when there is a network.
 *
 * Create one for a file and a process, and call it from a thread that may block.
 *
 * @param relay the client.
 * @param file in a folder of the app that is not in its backup: `File(context.noBackupFilesDir, "checkouts.json")`.
 * @param pages the checkout page of each price, as in the relay's configuration; the id is added as
 *   `client_reference_id`. A price without a page needs the relay for each checkout.
 * @param firstTimeoutMillis the time for the first post, after which the page opens without an answer.
 * @param clock measures pauses and ages.
 * @param log gets what an operator may want to know: refused posts, a damaged file, a full disk.
 * @param jitter the random part of a pause, by which it is shorter.
 */
class Checkouts @JvmOverloads constructor(
  private val relay: RelayClient,
  file: File,
  private val pages: Map<String, String> = emptyMap(),
  private val firstTimeoutMillis: Long = 5_000L,
  private val clock: CheckoutClock = SystemClock,
  private val log: (OperatorText) -> Unit = {},
  private val jitter: () -> Double = { Random.nextDouble(0.0, 0.2) }
) {
  private val lock = Any()
  private val storeLock = Any()
  private val store = CheckoutFile(file)
  private var records: List<CheckoutRecord>
  /** The checkouts that a thread posts now. */
  private val posting = HashSet<String>()

  init {
    val (kept, isDamaged) = store.read()
    records = kept
    if (isDamaged) log(OperatorText("The file of checkouts was damaged, and begins again."))
  }

  /** The ids of the checkouts that are not over, the newest last. */
  val openIds: List<String> get() = synchronized(lock) { records.map { it.contextId } }

  /** Whether a context waits to be posted. */
  val hasPending: Boolean get() = synchronized(lock) { records.any { it.plyContext != null } }

  /**
   * Begins a checkout, for one tap.
   *
   * @param context the paywall and the price.
   * @param userId the user id in the Purchasely SDK.
   * @throws RelayException when there is no page to open: the price has none in the app, and the relay could not be
   *   reached or knows none. Then nothing was begun, and nothing is kept.
   */
  @Throws(RelayException::class)
  fun begin(context: WebCheckoutContext, userId: String): BegunCheckout {
    val plyContext = context.plyContext()
    val now = clock.wallMillis
    val id = ContextId.create(now)
    val page = pages[context.stripePriceId]?.let { CheckoutPage.with(it, id) }
    add(CheckoutRecord(id, userId, plyContext, now, 0, now))
    try {
      val posted =
        if (page == null) withoutIdIfTooOld(id) { relay.checkout(context, userId, it) }
        else post(id, plyContext, userId, "checkout")
      // The client has checked that there is one.
      return BegunCheckout(posted.contextId, posted.checkoutUrl.orEmpty(), true)
    } catch (failure: RelayException) {
      // An invalid user id or address is a mistake of the app, which a page would hide.
      if (page == null || failure is RelayException.Encoding || failure is RelayException.Cancelled) {
        change(id) { null }
        throw failure
      }
      log(failure.logText)
      return BegunCheckout(id, page, false)
    } finally {
      synchronized(lock) { posting.remove(id) }
    }
  }

  /**
   * Posts the contexts that the relay does not have yet and whose time has come, each once.
   *
   * @return seconds until the next one is due; null when none is left.
   */
  @Throws(RelayException::class)
  fun postPending(): Double? {
    val due = due()
    try {
      for (record in due) {
        try {
          post(record)
        } catch (failure: RelayException.Cancelled) {
          throw failure
        } catch (failure: RelayException) {
          log(failure.logText)
        }
      }
    } finally {
      synchronized(lock) { posting.removeAll(due.map { it.contextId }) }
    }
    return synchronized(lock) {
      val next = records.filter { it.plyContext != null }.map { it.nextAttemptMillis }.sorted().firstOrNull()
      next?.let { maxOf(0L, it - clock.wallMillis) / 1000.0 }
    }
  }

  /**
   * Follows a checkout as [RelayClient.follow] does, and discards it when it is over. A context that is still in the
   * outbox is posted first.
   *
   * @throws RelayException [RelayException.Http] with 404: the relay does not know the checkout, which is discarded.
   */
  @JvmOverloads @Throws(RelayException::class)
  fun follow(contextId: String, withinSeconds: Double = 600.0, onChange: (CheckoutStatus) -> Unit): CheckoutStatus =
    ended(contextId) { id -> relay.follow(id, withinSeconds) { status -> onChange(noted(status, id)) } }

  /** Reads the state of a checkout once, as [RelayClient.status] does, and discards it when it is over. */
  @Throws(RelayException::class)
  fun status(contextId: String): CheckoutStatus = ended(contextId) { noted(relay.status(it), it) }

  /** Discards a checkout: its id, and its context if the relay does not have it yet. */
  fun discard(contextId: String) = change(contextId) { null }

  private fun ended(contextId: String, ask: (String) -> CheckoutStatus): CheckoutStatus {
    // Another thread may post it as well: the relay knows it by its id.
    val record = synchronized(lock) { records.firstOrNull { it.contextId == contextId && it.plyContext != null } }
    val id = record?.let { post(it)?.contextId } ?: contextId
    try {
      return ask(id)
    } catch (failure: RelayException.Http) {
      if (failure.failure.status == 404) discard(id)
      throw failure
    }
  }

  private fun noted(status: CheckoutStatus, id: String): CheckoutStatus {
    if (status.progress.isOver) discard(id)
    return status
  }

  // Posting

  private fun post(record: CheckoutRecord): PostedContext? =
    record.plyContext?.let { post(record.contextId, it, record.userId, "contexts") }

  private fun post(id: String, plyContext: String, userId: String, endpoint: String): PostedContext {
    val timeout = if (endpoint == "checkout") firstTimeoutMillis else POST_TIMEOUT_MILLIS
    try {
      return withoutIdIfTooOld(id) { relay.postOnce(ContextPost(plyContext, userId, it), endpoint, timeout) }
    } catch (failure: RelayException) {
      if (failure !is RelayException.Cancelled) reschedule(id, failure, endpoint)
      throw failure
    }
  }

  /**
   * Posts with the id, and without it when the relay refuses its time: the device's clock is wrong, or the post comes
   * a week late. The relay then makes an id. So does an older relay, which does not know a client's ids.
   */
  private fun withoutIdIfTooOld(id: String, post: (String?) -> PostedContext): PostedContext {
    val posted = try {
      post(id)
    } catch (failure: RelayException.Http) {
      if (failure.failure.problem?.type != ID_TIME) throw failure
      post(null)
    }
    change(id) { it.copy(contextId = posted.contextId, plyContext = null) }
    return posted
  }

  /** A post that the relay would refuse again is not repeated; the checkout may still be paid. */
  private fun reschedule(id: String, failure: RelayException, endpoint: String) {
    val status = failure.status ?: 0
    // The relay may not know the price's page, and still store the context.
    val isRefused = endpoint == "contexts" && status in 400..499 && status !in PASSING
    val isLasting = failure is RelayException.Encoding || isRefused
    val now = clock.wallMillis
    change(id) { record ->
      val seconds = minOf(PAUSE_MAX_SECONDS, PAUSE_SECONDS shl record.attempts.coerceAtMost(10))
      // A part is random, so that apps do not post at the same time when the relay is back.
      val pause = maxOf(seconds * (1 - jitter()), failure.retryAfterSeconds ?: 0.0)
      record.copy(
        plyContext = if (isLasting) null else record.plyContext, attempts = record.attempts + 1,
        nextAttemptMillis = now + (pause * 1000).toLong())
    }
  }

  /** Reserves the posts that are due, and forgets what is too old. */
  private fun due(): List<CheckoutRecord> {
    val now = clock.wallMillis
    for (record in synchronized(lock) { records }) {
      val age = now - record.begunAtMillis
      if (age > KEEP_MILLIS) {
        log(OperatorText("A checkout that began a month ago is forgotten."))
        discard(record.contextId)
      } else if (age > POST_MILLIS && record.plyContext != null) {
        log(OperatorText("A context could not be posted within a week."))
        change(record.contextId) { it.copy(plyContext = null) }
      }
    }
    return synchronized(lock) {
      // A pause is never longer than a day: then the wall clock was set back.
      val due = records.filter {
        it.plyContext != null && (it.nextAttemptMillis <= now || it.nextAttemptMillis - now > DAY_MILLIS)
      }
      due.filter { posting.add(it.contextId) }
    }
  }

  // Records

  private fun add(record: CheckoutRecord) {
    val dropped = synchronized(lock) {
      posting.add(record.contextId)
      records = records + record
      val dropped = records.size - RECORDS_MAX
      if (dropped > 0) records = records.drop(dropped)
      dropped
    }
    if (dropped > 0) log(OperatorText("There are more than $RECORDS_MAX open checkouts; the oldest is forgotten."))
    save()
  }

  /** @param body returns null to remove the record. */
  private fun change(id: String, body: (CheckoutRecord) -> CheckoutRecord?) {
    val isChanged = synchronized(lock) {
      val before = records
      // An older relay returns the id that it has for the same context.
      records = before.mapNotNull { if (it.contextId == id) body(it) else it }.distinctBy { it.contextId }
      records != before
    }
    if (isChanged) save()
  }

  /** A full disk must not keep the customer from paying: the record is then in memory only. */
  private fun save() {
    // The disk may be slow: the records stay readable meanwhile.
    val failure = synchronized(storeLock) {
      try {
        store.write(synchronized(lock) { records })
        null
      } catch (failed: IOException) {
        failed
      }
    }
    if (failure != null) log(OperatorText("The file of checkouts could not be written: $failure"))
  }

  private companion object {
    const val POST_TIMEOUT_MILLIS = 30_000L
    const val RECORDS_MAX = 50
    const val PAUSE_SECONDS = 30L
    const val PAUSE_MAX_SECONDS = 3600L
    const val DAY_MILLIS = 86_400_000L
    /** The relay accepts an id for a week. */
    const val POST_MILLIS = 7 * DAY_MILLIS
    /** The relay's default for contexts (`retention.contexts`). */
    const val KEEP_MILLIS = 30 * DAY_MILLIS
    /** Refusals that a new token, another configuration or time can end. */
    val PASSING = setOf(401, 403, 404, 408, 429)
    const val ID_TIME = "urn:receiptd:problem:context-id-time"
  }
}
