// The checkouts of an app, from the tap on "Buy" to their end, kept in a file. Thread-safe.

package checkoutkit

import java.io.File
import java.util.concurrent.Callable
import java.util.concurrent.ExecutionException
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import kotlin.random.Random

/**
 * A checkout that has begun.
 *
 * @property contextId identifies it.
 * @property page the page to open in the browser; it carries the id.
 * @property isPosted whether the relay is known to have the context. If not, it is in the outbox:
 *   [Checkouts.postPending].
 */
class BegunCheckout(val contextId: String, val page: String, val isPosted: Boolean)

/**
 * Begins checkouts, and keeps each until it is over, in a file. A sale never waits for the relay longer than
 * [firstTimeoutMillis], whatever takes the time: when there is no answer by then, the page of [pages] is opened with
 * an id that the kit created, the post goes on in the background, and the context stays in the file until the relay
 * has it.
 *
 * - The record is on the disk before a request is sent and before the page opens. So a post survives the end of
 *   the process, and so does the id, by which the app asks for the state later.
 * - One tap is one context with one id: each post of it sends the same bytes.
 * - The id has a time, which the relay checks. The kit learns from each answer by how much the device's clock is
 *   wrong, and keeps that in the file, so that the ids of a wrong clock are right, too, after the first answer.
 * - Posts that are left are sent by [postPending]. Call it when the app starts, when it comes to the front, and
 *   from a job when there is a network.
 *
 * Create one for a file and a process, and call it from a thread that may block.
 *
 * @param relay the client.
 * @param file in a folder of the app that is not in its backup: `File(context.noBackupFilesDir, "checkouts.json")`.
 * @param pages the checkout page of each price, as in the relay's configuration; the id is added as
 *   `client_reference_id`. A price without a page needs the relay for each checkout, with the client's retries.
 * @param firstTimeoutMillis the time for the first post, with the token and a second attempt; after it the page
 *   opens without an answer.
 * @param clock measures pauses and ages.
 * @param log gets what an operator may want to know: refused posts, a damaged file, a full disk. Called on any thread.
 * @param jitter the random part of a pause, by which it is shorter.
 */
class Checkouts @JvmOverloads constructor(
  private val relay: RelayClient,
  file: File,
  private val pages: Map<String, String> = emptyMap(),
  private val firstTimeoutMillis: Long = 5_000L,
  private val clock: CheckoutClock = SystemClock,
  private val log: (OperatorText) -> Unit = {},
  jitter: () -> Double = { Random.nextDouble(0.0, 0.2) }
) {
  private val records = CheckoutRecords(file, clock, log)
  private val posts = CheckoutPosts(relay, records, clock, log, jitter)

  /**
   * The ids of a user's checkouts that are not over, the newest last; without [expiredIds]. A device may have several
   * users, one after the other: what another one bought is not this one's to see.
   *
   * @param userId the user who is signed in, as in [begin].
   */
  fun openIds(userId: String): List<String> = ids(userId, false)

  /**
   * The ids of a user's checkouts for which no payment came in time. A later payment can still change them: ask for
   * each once when the app comes to the front ([status]). They are kept until a month after the tap.
   */
  fun expiredIds(userId: String): List<String> = ids(userId, true)

  private fun ids(userId: String, areExpired: Boolean): List<String> =
    records.all.filter { it.userId == userId && it.isExpired == areExpired }.map { it.contextId }

  /** Whether a context waits to be posted. */
  val hasPending: Boolean get() = records.all.any { it.plyContext != null }

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
    val id = ContextId.create(now + records.clockOffsetMillis)
    val page = pages[context.stripePriceId]?.let { CheckoutPage.with(it, id) }
    records.add(CheckoutRecord(id, userId, plyContext, now, 0, now))
    if (page != null) return begin(id, page)
    try {
      return begun(posts.withoutIdIfTooOld(id) { relay.checkout(context, userId, it) })
    } catch (failure: RelayException) {
      discard(id)
      throw failure
    } finally {
      records.release(listOf(id))
    }
  }

  /** Posts in the background, and waits for that a limited time. */
  private fun begin(id: String, page: String): BegunCheckout {
    val task = FutureTask<PostedContext?>(Callable { postFirst(id) })
    val thread = Thread(task, "CheckoutKit post")
    thread.isDaemon = true
    thread.start()
    try {
      task.get(firstTimeoutMillis, TimeUnit.MILLISECONDS)?.let { return begun(it) }
    } catch (late: TimeoutException) {
      log(OperatorText("The relay has not answered in $firstTimeoutMillis ms; the page opens, and the post goes on."))
    } catch (interrupted: InterruptedException) {
      task.cancel(true)
      discard(id)
      Thread.currentThread().interrupt()
      throw RelayException.Cancelled()
    } catch (failed: ExecutionException) {
      val failure = failed.cause as? RelayException ?: throw failed.cause ?: failed
      // An invalid user id or address is a mistake of the app, which a page would hide.
      if (failure is RelayException.Encoding || failure is RelayException.Cancelled) {
        discard(id)
        throw failure
      }
    }
    return BegunCheckout(id, page, false)
  }

  private fun postFirst(id: String): PostedContext? = try {
    posts.post(id, CheckoutPosts.CHECKOUT)
  } catch (failure: RelayException) {
    log(failure.logText)
    throw failure
  } finally {
    records.release(listOf(id))
  }

  // The client has checked that there is a page.
  private fun begun(posted: PostedContext) = BegunCheckout(posted.contextId, posted.checkoutUrl.orEmpty(), true)

  /**
   * Posts the contexts that the relay does not have yet and whose time has come, each once.
   *
   * @return seconds until the next one is due; null when none is left.
   */
  @Throws(RelayException::class)
  fun postPending(): Double? {
    val due = posts.due().map { it.contextId }
    try {
      for (id in due) {
        try {
          posts.post(id, CheckoutPosts.CONTEXTS)
        } catch (failure: RelayException.Cancelled) {
          throw failure
        } catch (failure: RelayException) {
          log(failure.logText)
        }
      }
    } finally {
      records.release(due)
    }
    val waits = records.all.filter { it.plyContext != null }.map { posts.waitMillis(it) }
    return waits.sorted().firstOrNull()?.let { it / 1000.0 }
  }

  /**
   * Follows a checkout as [RelayClient.follow] does, and discards it when it ended without a payment. A context that
   * is still in the outbox is posted first, when its time has come: this function waits for that, too.
   *
   * @throws RelayException [RelayException.isUnknownContext]: the relay does not know the checkout, which is discarded
   *   unless its context is still in the outbox.
   */
  @JvmOverloads @Throws(RelayException::class)
  fun follow(
    contextId: String, withinSeconds: Double = 600.0, onChange: (CheckoutStatus) -> Unit = {}
  ): CheckoutStatus {
    val deadline = clock.seconds + withinSeconds
    return ended(contextId, deadline) { id ->
      noted(relay.follow(id, deadline - clock.seconds) { status -> onChange(noted(status, id)) }, id)
    }
  }

  /**
   * Reads the state of a checkout once, as [RelayClient.status] does, and discards it when it ended without a payment.
   * A context whose time has come is posted first.
   */
  @Throws(RelayException::class)
  fun status(contextId: String): CheckoutStatus = ended(contextId, clock.seconds) { noted(relay.status(it), it) }

  /**
   * Asks the app's backend until it reports the purchase, for a minute, and then discards the checkout. Call it at
   * [Progress.PROCESSED]: Purchasely has accepted the receipt, and processes it later. If it returns false, ask again
   * when the app comes to the front.
   *
   * @param reloadEntitlements reloads the entitlements of this user from the app's backend or the Purchasely SDK, and
   *   returns whether the purchase is there. Called on this thread.
   * @return whether the purchase is unlocked.
   */
  @Throws(RelayException::class)
  fun confirm(contextId: String, reloadEntitlements: (String) -> Boolean): Boolean {
    for (pause in CONFIRM_PAUSES) {
      if (pause > 0) relay.rest(pause)
      val userId = records.find(contextId)?.userId ?: return false
      if (reloadEntitlements(userId)) {
        discard(contextId)
        return true
      }
    }
    return false
  }

  // Claims

  /** The claim link that waits until the customer has signed in and has agreed; null if there is none. */
  val keptClaim: ClaimLink? get() = records.claim

  /** Keeps the link that opened the app, in the file. The latest one takes the place of an earlier one. */
  fun keepClaim(link: ClaimLink) = records.changeClaim { link }

  /** Drops the kept link, for a customer who does not want the purchase in this account. */
  fun discardClaim() = records.changeClaim { null }

  /** Claims a purchase as [RelayClient.claim] does, and keeps its link until the relay has decided. */
  @Throws(RelayException::class)
  fun claim(link: ClaimLink, userId: String): ClaimResult {
    val result = relay.claim(link, userId)
    // A newer link may have come meanwhile.
    if (result.isFinal) records.changeClaim { if (it == link) null else it }
    return result
  }

  /** Discards a checkout: its id, and its context if the relay does not have it yet. */
  fun discard(contextId: String) = records.change(contextId) { null }

  /**
   * Discards all checkouts of a user, in the memory and on the disk, for one who deletes the account. Contexts that
   * are not posted yet are not posted any more; a request that is under way may still arrive. It does not tell the
   * relay, which has its own erasure.
   */
  fun forget(userId: String) = records.forget(userId)

  /** @param deadline until when it may wait for the time of a post, on the monotonic clock. */
  private fun ended(contextId: String, deadline: Double, ask: (String) -> CheckoutStatus): CheckoutStatus {
    val isDue = pending(contextId)?.let { posts.waitMillis(it) == 0L } ?: false
    // Another thread may post it as well: the relay knows it by its id.
    val id = if (isDue) posted(contextId) else contextId
    try {
      return ask(id)
    } catch (failure: RelayException) {
      if (!failure.isUnknownContext) throw failure
      val record = pending(id)
      if (record == null) discard(id)
      val wait = record?.let { posts.waitMillis(it) / 1000.0 } ?: throw failure
      if (clock.seconds + wait >= deadline) throw failure
      relay.rest(wait)
      return ask(posted(id))
    } finally {
      records.noteClock(relay.clockOffsetMillis)
    }
  }

  private fun posted(id: String): String = posts.post(id, CheckoutPosts.CONTEXTS)?.contextId ?: id

  private fun pending(id: String): CheckoutRecord? = records.find(id)?.takeIf { it.plyContext != null }

  private fun noted(status: CheckoutStatus, id: String): CheckoutStatus {
    // The relay has the context: a post whose answer was lost need not be repeated.
    if (status.isDiscardable) discard(id)
    else records.change(id) { it.copy(plyContext = null, isExpired = status.isExpired) }
    return status
  }

  private companion object {
    /** Seconds before each question to the app's backend. */
    val CONFIRM_PAUSES = doubleArrayOf(0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
  }
}
