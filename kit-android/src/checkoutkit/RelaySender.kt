// The requests of the relay's client: addresses, bodies, credentials, retries. Called from any thread; blocks.

package checkoutkit

import java.io.IOException

internal class RelaySender(
  private val relay: String, private val app: String, private val credential: Credential,
  private val transport: Transport, private val clock: CheckoutClock
) {
  /**
   * By how much the relay's clock is ahead of the device's, in milliseconds, from the `Date` of its last answer
   * (whole seconds); null before the first.
   */
  @Volatile var clockOffsetMillis: Long? = null
    private set

  // Creating

  /** A request under `/v1/{app}/`. */
  fun get(path: String, timeoutMillis: Long): HttpRequest =
    HttpRequest("GET", url(path), mapOf("Accept" to "application/json"), null, timeoutMillis)

  /** A POST with JSON under `/v1/{app}/users/{user}/`. The same body gives the same bytes. */
  fun post(endpoint: String, userId: String, body: Map<String, Any?>, timeoutMillis: Long): HttpRequest {
    if (!LinkText.isIdentifier(userId, 255) || !LinkPath.isSegment(userId)) {
      throw encoding("A user id has 1 to 255 bytes and no control characters, and is not `.` or `..`.")
    }
    val json = try {
      Json.write(body)
    } catch (invalid: IllegalArgumentException) {
      throw encoding("The request cannot be written as JSON.")
    }
    val headers = mapOf("Accept" to "application/json", "Content-Type" to "application/json; charset=utf-8")
    return HttpRequest(
      "POST", url("users/${LinkText.escaped(userId)}/$endpoint"), headers, json.toByteArray(Charsets.UTF_8),
      timeoutMillis)
  }

  private fun url(path: String): String {
    val parts = UrlParts(relay)
    val scheme = parts.comparableScheme
    val authority = parts.authority
    if (authority == null || authority == "" || authority.any { it == '@' || !LinkText.isVisible(it) } ||
      !(scheme == "https" || (scheme == "http" && isLoopback(authority)))
    ) {
      throw encoding("The relay's address must be https://HOST, without a user.")
    }
    if (!CheckoutReturn.isApp(app)) throw encoding("An app's name is lower-case letters, digits and hyphens.")
    return "$scheme://$authority${parts.path.trimEnd('/')}/v1/$app/$path"
  }

  private fun isLoopback(authority: String): Boolean {
    val place = LinkText.lowercased(authority)
    val port = place.substringAfterLast(':', "")
    val isPort = port.isNotEmpty() && port.all { LinkText.isDigit(it) }
    return (if (isPort) place.substringBeforeLast(':') else place) in setOf("localhost", "127.0.0.1", "[::1]")
  }

  // Sending

  /**
   * Sends a request, retries it as the policy says, and retries it once more when its token is refused.
   *
   * @param firstTimeoutMillis the time for the first attempt.
   */
  fun send(
    request: HttpRequest, isKeyed: Boolean, retries: RetryPolicy,
    firstTimeoutMillis: Long = request.timeoutMillis
  ): HttpResponse {
    val start = clock.seconds
    var mayRenew = isKeyed && credential is Credential.Token
    var attempts = 1
    while (true) {
      try {
        return sendOnce(request, isKeyed, if (attempts == 1) firstTimeoutMillis else request.timeoutMillis)
      } catch (failure: RelayException) {
        if (failure.status == 401 && mayRenew) {
          mayRenew = false
        } else {
          if (!failure.isTransient) throw failure
          rest(retries.pause(attempts, clock.seconds - start, failure.retryAfterSeconds) ?: throw failure)
          attempts += 1
        }
      }
    }
  }

  private fun sendOnce(request: HttpRequest, isKeyed: Boolean, timeoutMillis: Long): HttpResponse {
    if (Thread.currentThread().isInterrupted) throw RelayException.Cancelled()
    val headers = if (isKeyed) request.headers + credentialHeader() else request.headers
    val keyed = HttpRequest(request.method, request.url, headers, request.body, timeoutMillis)
    val response = try {
      transport.send(keyed)
    } catch (interrupted: InterruptedException) {
      throw cancelled()
    } catch (lasting: LastingFailure) {
      throw RelayException.Network(lasting, isTransient = false)
    } catch (failed: IOException) {
      throw RelayException.Network(failed)
    } catch (refused: SecurityException) {
      // The app lacks the permission INTERNET, or its policy forbids the address.
      throw RelayException.Network(refused, isTransient = false)
    }
    val failure = if (response.status in 200..299) null else HttpFailure.read(response, clock.wallMillis)
    learnTime(response, failure)
    if (failure != null) throw RelayException.Http(failure)
    return response
  }

  /** A captive portal has its own clock, so only an answer in the relay's form counts. */
  private fun learnTime(response: HttpResponse, failure: HttpFailure?) {
    val type = LinkText.lowercased(response.header("content-type") ?: "")
    if (failure?.isOfRelay ?: type.startsWith("application/json")) {
      val date = response.header("date")?.let { Timestamps.httpDate(it) } ?: return
      clockOffsetMillis = date - clock.wallMillis
    }
  }

  fun rest(seconds: Double) {
    try {
      clock.sleep(seconds)
    } catch (interrupted: InterruptedException) {
      throw cancelled()
    }
  }

  private fun cancelled(): RelayException {
    Thread.currentThread().interrupt()
    return RelayException.Cancelled()
  }

  // Credentials

  private fun credentialHeader(): Map<String, String> = when (credential) {
    is Credential.None -> emptyMap()
    is Credential.ClientKey -> mapOf("X-API-KEY" to headerValue(credential.key))
    is Credential.Token -> mapOf("Authorization" to "Bearer " + headerValue(token(credential)))
  }

  private fun token(credential: Credential.Token): String = try {
    credential.provider()
  } catch (interrupted: InterruptedException) {
    throw cancelled()
  } catch (failed: IOException) {
    // A provider that cannot reach its server is a network failure, which is retried.
    throw RelayException.Network(failed)
  } catch (failed: Exception) {
    throw RelayException.NoToken(failed)
  }

  private fun headerValue(text: String): String {
    if (text == "" || !text.all { LinkText.isVisible(it) }) {
      throw encoding("The key or token has characters that are not allowed in a header.")
    }
    return text
  }

  private fun encoding(text: String) = RelayException.Encoding(OperatorText(text))
}
