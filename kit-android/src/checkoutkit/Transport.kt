// Sends requests to the relay; tests and apps with their own network layer supply their own.

package checkoutkit

import java.io.IOException

/**
 * A request of the kit.
 *
 * @property method `GET` or `POST`.
 * @property url https, or http on this machine.
 * @property headers names and values.
 * @property body the body of a `POST`; null for a `GET`.
 * @property timeoutMillis the time for the whole exchange, from the name's lookup to the answer's last byte.
 */
class HttpRequest(
  val method: String, val url: String, val headers: Map<String, String>, val body: ByteArray?,
  val timeoutMillis: Long
)

/**
 * A response, for every status.
 *
 * @property status the HTTP status.
 * @property headers by their names in lower case.
 * @property body the whole body.
 */
class HttpResponse(val status: Int, val headers: Map<String, String>, val body: ByteArray) {
  internal fun header(name: String): String? = headers[name]

  /** The body; invalid UTF-8 is replaced. */
  internal val text: OperatorText get() = OperatorText(String(body, Charsets.UTF_8))
}

/**
 * Sends one request and returns its response. [UrlConnectionTransport] is the kit's own.
 *
 * A transport must not follow redirects, because the request carries the app's key. It must not retry, because
 * [RetryPolicy] does. It ends when its thread is interrupted, and when the request's time is up.
 */
interface Transport {
  /**
   * @throws IOException when there was no response.
   * @throws SecurityException when the app may not send it; it is not retried.
   */
  @Throws(IOException::class, InterruptedException::class) fun send(request: HttpRequest): HttpResponse
}

/** The answer has more bytes than the kit reads, or the URL cannot be used: a retry fails in the same way. */
class LastingFailure(message: String) : IOException(message)
