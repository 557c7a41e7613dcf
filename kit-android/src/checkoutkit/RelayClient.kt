// The client of the relay's API for apps: posts a context before a checkout. Called from any thread but the main
// one, because each call blocks; it has no state except the transport's.

package checkoutkit

/** How the app authenticates. */
sealed class Credential {
  /** No credential: the relay's app is `open`. */
  object None : Credential()

  /**
   * One of the app's client keys, sent as `X-API-KEY`. Every copy of the app contains it, so it identifies the
   * app, not the user.
   */
  class ClientKey(internal val key: String) : Credential()

  /**
   * A token of the signed-in user, sent as `Authorization: Bearer`. The function is called before every attempt,
   * on the thread of the request, and may renew the token. A token may expire in transit: after the first 401
   * of a request there is one more attempt, whatever the policy.
   */
  class Token(internal val provider: () -> String) : Credential()
}

/**
 * Posts the context of a checkout to a Receipt Relay, and reads the checkout's status.
 *
 * Each function blocks its thread, and ends with [RelayException.Cancelled] when the thread is interrupted:
 * `runInterruptible(Dispatchers.IO) { relay.status(id) }` makes it a part of a coroutine.
 *
 * Requests are retried with growing pauses when the network fails or the relay is busy ([RetryPolicy]). Every
 * attempt sends the same bytes, for which the relay returns the same id. So a context is not duplicated when
 * only the response was lost.
 *
 * A wrong address or name is reported by the first request, as [RelayException.Encoding].
 *
 * @param relay the relay's origin: https, or http on this machine only.
 * @param app the app's name at the relay.
 * @param credential how the app authenticates.
 * @param transport sends the requests.
 * @param retries how often and how long to retry.
 * @param clock measures the pauses.
 */
class RelayClient @JvmOverloads constructor(
  relay: String,
  app: String,
  credential: Credential = Credential.None,
  transport: Transport = UrlConnectionTransport(),
  private val retries: RetryPolicy = RetryPolicy(),
  private val clock: CheckoutClock = SystemClock
) {
  private val sender = RelaySender(relay, app, credential, transport, clock)

  /** As [RelaySender.clockOffsetMillis]. */
  internal val clockOffsetMillis: Long? get() = sender.clockOffsetMillis

  /** Blocks the thread, as [RelaySender.rest]. */
  internal fun rest(seconds: Double) = sender.rest(seconds)

  // Before the checkout

  /**
   * Posts a context and returns its checkout page.
   *
   * @param context the paywall and the price.
   * @param userId the user id in the Purchasely SDK.
   * @param id the context's id, of [ContextId.create]; null lets the relay choose.
   * @return the context; its [PostedContext.checkoutUrl] is never null.
   * @throws RelayException an unknown price is [RelayException.Http] with 422.
   */
  @JvmOverloads @Throws(RelayException::class)
  fun checkout(context: WebCheckoutContext, userId: String, id: String? = null): PostedContext =
    post(ContextPost(context.plyContext(), userId, id), "checkout")

  /**
   * Posts a context, for apps that know the checkout page's address. It is idempotent until the context is used:
   * the same context of the same user returns the same id.
   */
  @JvmOverloads @Throws(RelayException::class)
  fun post(context: WebCheckoutContext, userId: String, id: String? = null): PostedContext =
    post(context.plyContext(), userId, id)

  /** Posts a context that already is a `ply_context`. */
  @JvmOverloads @Throws(RelayException::class)
  fun post(plyContext: String, userId: String, id: String? = null): PostedContext =
    post(ContextPost(plyContext, userId, id), "contexts")

  /** One attempt: the outbox has its own times. */
  internal fun postOnce(post: ContextPost, endpoint: String, timeoutMillis: Long): PostedContext =
    read(sender.send(request(post, endpoint, timeoutMillis), true, RetryPolicy.NONE), endpoint)

  private fun post(post: ContextPost, endpoint: String): PostedContext {
    val request = request(post, endpoint, POST_TIMEOUT_MILLIS)
    return read(sender.send(request, true, retries, FIRST_TIMEOUT_MILLIS), endpoint)
  }

  private fun request(post: ContextPost, endpoint: String, timeoutMillis: Long): HttpRequest {
    val body = LinkedHashMap<String, Any?>()
    post.id?.let { body["id"] = it }
    body["ply_context"] = post.plyContext
    return sender.post(endpoint, post.userId, body, timeoutMillis)
  }

  private fun read(answer: HttpResponse, endpoint: String): PostedContext {
    val posted = PostedContext.read(answer.status, answer.body)
    if (posted == null || (endpoint == "checkout" && posted.checkoutUrl == null)) throw unexpected(answer)
    return posted
  }

  // Claims

  /**
   * Claims a purchase for the signed-in user. Ask first: "Add this purchase to your account?" It can be sent again: the
   * first claim wins, and repeating it has no effect.
   *
   * @param link the link that opened the app.
   * @param userId the signed-in user's id in the Purchasely SDK, never an anonymous one.
   * @throws RelayException when the relay did not decide, and trying again alone does not help: a wrong key, or an
   *   answer that is not the relay's.
   */
  @Throws(RelayException::class)
  fun claim(link: ClaimLink, userId: String): ClaimResult {
    val request = sender.post("claims", userId, mapOf("token" to link.token), POST_TIMEOUT_MILLIS)
    try {
      val answer = sender.send(request, true, retries)
      return ClaimResult.read(answer.body) ?: throw unexpected(answer)
    } catch (failure: RelayException) {
      return ClaimResult.read(failure) ?: throw failure
    }
  }

  // After the checkout

  /**
   * Reads the status once, without waiting at the relay. The id is the secret, so status requests carry neither
   * key nor token: an expired token or a sign-out cannot hide a purchase.
   */
  @Throws(RelayException::class)
  fun status(contextId: String): CheckoutStatus = ask(contextId, 0, retries)

  /**
   * Waits until the checkout has ended. Network failures are retried until the time is up.
   *
   * @param withinSeconds the time limit.
   * @return a status whose state is final. Its [CheckoutStatus.progress] may still be [Progress.PROCESSING]: then
   *   keep the id and ask again later.
   * @throws RelayException [RelayException.TimedOut] when the checkout has not ended in time; the cause when the
   *   relay could not be reached.
   */
  @JvmOverloads @Throws(RelayException::class)
  fun finalStatus(contextId: String, withinSeconds: Double = 600.0): CheckoutStatus =
    follow(contextId, withinSeconds) {}

  /**
   * As [finalStatus], and passes the current state at once and then each change to [onChange], on this thread.
   */
  @JvmOverloads @Throws(RelayException::class)
  fun follow(
    contextId: String, withinSeconds: Double = 600.0, onChange: (CheckoutStatus) -> Unit
  ): CheckoutStatus {
    val deadline = clock.seconds + (if (withinSeconds.isNaN()) 0.0 else withinSeconds)
    var last: CheckoutStatus? = null
    while (true) {
      val start = clock.seconds
      val rest = deadline - start
      if (rest <= 0 && last != null) throw RelayException.TimedOut()
      // The first request does not wait, because the screen needs a state to show.
      val wait = if (last == null || rest < 1) 0 else minOf(rest, WAIT_SECONDS).toInt()
      val status = ask(contextId, wait, retries.copy(attemptsMax = Int.MAX_VALUE, patienceSeconds = rest))
      if (status != last) onChange(status)
      if (status.isFinal) return status
      if (last != null) {
        val early = PACE_SECONDS - (clock.seconds - start)
        if (early > 0) sender.rest(minOf(early, maxOf(0.0, deadline - clock.seconds)))
      }
      last = status
    }
  }

  private fun ask(contextId: String, wait: Int, retries: RetryPolicy): CheckoutStatus {
    if (!LinkPath.isSegment(contextId)) {
      throw RelayException.Encoding(OperatorText("This is not the id of a context."))
    }
    val query = if (wait > 0) "?wait=$wait" else ""
    val request = sender.get("contexts/${LinkText.escaped(contextId)}$query", wait * 1000L + 15_000L)
    val answer = sender.send(request, false, retries)
    return CheckoutStatus.read(answer.body) ?: throw unexpected(answer)
  }

  private fun unexpected(answer: HttpResponse) = RelayException.UnexpectedAnswer(answer.status, answer.text)

  private companion object {
    const val POST_TIMEOUT_MILLIS = 30_000L
    /** The first attempt of a post: the customer waits, and a connection that answers at all answers by then. */
    const val FIRST_TIMEOUT_MILLIS = 5_000L
    /** Seconds for which one request waits at the relay (long poll). It answers earlier when the state is final. */
    const val WAIT_SECONDS = 15.0
    /** The minimum time between two requests, in case the relay answers at once without a change. */
    const val PACE_SECONDS = 1.0
  }
}

/** A context to be posted. */
internal class ContextPost(val plyContext: String, val userId: String, val id: String?)
