// How contexts are posted, and when a failed post is repeated. Thread-safe.

package checkoutkit

internal class CheckoutPosts(
  private val relay: RelayClient, private val records: CheckoutRecords, private val clock: CheckoutClock,
  private val log: (OperatorText) -> Unit, private val jitter: () -> Double
) {
  /**
   * Posts a checkout's context once.
   *
   * @return null when there is nothing to post any more: another thread posted or discarded it.
   */
  fun post(id: String, endpoint: String): PostedContext? {
    val record = records.find(id) ?: return null
    val plyContext = record.plyContext ?: return null
    try {
      return withoutIdIfTooOld(id) {
        relay.postOnce(ContextPost(plyContext, record.userId, it), endpoint, POST_TIMEOUT_MILLIS)
      }
    } catch (failure: RelayException) {
      if (failure !is RelayException.Cancelled) reschedule(id, failure, endpoint)
      throw failure
    }
  }

  /**
   * Posts with the id, and without it when the relay refuses its time: the device's clock was wrong, or the post
   * comes a week late. The relay then makes an id, and a page of the relay has that one. A page that is open already
   * has the refused id, which the relay takes neither for a context nor for a user: it can join that purchase only
   * if the payment names the user elsewhere.
   */
  fun withoutIdIfTooOld(id: String, post: (String?) -> PostedContext): PostedContext {
    try {
      val posted = try {
        post(id)
      } catch (failure: RelayException.Http) {
        if (failure.failure.problem?.type != ID_TIME || records.find(id) == null) throw failure
        post(null)
      }
      records.change(id) { it.copy(contextId = posted.contextId, plyContext = null) }
      return posted
    } finally {
      records.noteClock(relay.clockOffsetMillis)
    }
  }

  /** A post that the relay would refuse again is not repeated; the checkout may still be paid. */
  private fun reschedule(id: String, failure: RelayException, endpoint: String) {
    val status = failure.status ?: 0
    val begunAtMillis = records.find(id)?.begunAtMillis ?: return
    // Only after the relay has answered: the device's clock may be wrong, or may have been.
    val isTooOld = clock.wallMillis - begunAtMillis > POST_MILLIS
    val passing = if (isTooOld) TRANSIENT else TRANSIENT + PASSING
    // The relay may not know the price's page, and still store the context. A captive portal, a firewall and a proxy
    // answer with such a status, too.
    val isRefused = endpoint == CONTEXTS && status in 400..499 && status !in passing &&
      failure is RelayException.Http && failure.failure.isOfRelay
    val isLasting = failure is RelayException.Encoding || isRefused
    if (isTooOld && isLasting) log(OperatorText("A context could not be posted within a week."))
    val now = clock.wallMillis
    records.change(id) { record ->
      val seconds = minOf(PAUSE_MAX_SECONDS, PAUSE_SECONDS shl record.attempts.coerceAtMost(10))
      // A part is random, so that apps do not post at the same time when the relay is back.
      val pause = maxOf(seconds * (1 - jitter()), failure.retryAfterSeconds ?: 0.0)
      record.copy(
        plyContext = if (isLasting) null else record.plyContext, attempts = record.attempts + 1,
        nextAttemptMillis = now + (pause * 1000).toLong())
    }
  }

  /** Milliseconds until a context is to be posted; 0 when it is due. */
  fun waitMillis(record: CheckoutRecord): Long {
    val wait = record.nextAttemptMillis - clock.wallMillis
    // A pause is never longer than a day: then the wall clock was set back.
    return if (wait > DAY_MILLIS) 0 else maxOf(0L, wait)
  }

  /** Reserves the posts that are due, and forgets checkouts that are too old. */
  fun due(): List<CheckoutRecord> {
    records.load()
    val now = clock.wallMillis
    for (record in records.all) {
      if (record.plyContext == null && now - record.begunAtMillis > KEEP_MILLIS) {
        log(OperatorText("A checkout that began a month ago is forgotten."))
        records.change(record.contextId) { null }
      }
    }
    return records.reserve(records.all.filter { it.plyContext != null && waitMillis(it) == 0L })
  }

  companion object {
    const val CHECKOUT = "checkout"
    const val CONTEXTS = "contexts"
    private const val POST_TIMEOUT_MILLIS = 30_000L
    private const val PAUSE_SECONDS = 30L
    private const val PAUSE_MAX_SECONDS = 3600L
    private const val DAY_MILLIS = 86_400_000L
    /** The relay accepts an id for a week. */
    private const val POST_MILLIS = 7 * DAY_MILLIS
    /** The relay's default for contexts (`retention.contexts`). */
    private const val KEEP_MILLIS = 30 * DAY_MILLIS
    /** Refusals that time ends. */
    private val TRANSIENT = setOf(408, 429)
    /** Refusals that a new token or another configuration can end. */
    private val PASSING = setOf(401, 403, 404)
    private const val ID_TIME = "${HttpFailure.PROBLEM}context-id-time"
  }
}
