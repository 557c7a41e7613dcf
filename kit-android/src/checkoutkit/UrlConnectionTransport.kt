// The kit's transport. Each request runs on its own thread, because neither an interrupt nor the time-outs
// of `HttpURLConnection` end a lookup of a name or an answer that trickles.

package checkoutkit

import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.net.HttpURLConnection
import java.net.SocketTimeoutException
import java.net.URL
import java.net.URLConnection
import java.util.concurrent.Callable
import java.util.concurrent.ExecutionException
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/**
 * Sends requests with `HttpURLConnection`: no cache, no redirects, responses of at most 1 MiB. The process's
 * `CookieHandler` applies, if the app has set one.
 *
 * @param open opens a connection without connecting, for an app with its own proxy or its own trust.
 */
class UrlConnectionTransport @JvmOverloads constructor(
  private val open: (URL) -> URLConnection = { it.openConnection() }
) : Transport {

  override fun send(request: HttpRequest): HttpResponse {
    val exchange = Exchange(request)
    val task = FutureTask<HttpResponse>(exchange)
    val thread = Thread(task, "CheckoutKit")
    thread.isDaemon = true
    thread.start()
    try {
      return task.get(request.timeoutMillis, TimeUnit.MILLISECONDS)
    } catch (late: TimeoutException) {
      exchange.abandon()
      throw SocketTimeoutException("No answer in ${request.timeoutMillis} ms")
    } catch (interrupted: InterruptedException) {
      exchange.abandon()
      throw interrupted
    } catch (failed: ExecutionException) {
      val cause = failed.cause
      // The app lacks the permission INTERNET: a retry fails in the same way. Some releases of Android throw other
      // runtime exceptions for what a server or a network does.
      if (cause is SecurityException) throw cause
      throw cause as? IOException ?: IOException(cause)
    }
  }

  private inner class Exchange(private val request: HttpRequest) : Callable<HttpResponse> {
    @Volatile private var connection: HttpURLConnection? = null
    @Volatile private var isAbandoned = false

    override fun call(): HttpResponse {
      val connection = open(URL(request.url)) as? HttpURLConnection ?: throw LastingFailure("Not an HTTP URL")
      this.connection = connection
      val timeout = request.timeoutMillis.coerceIn(1L, 600_000L).toInt()
      connection.connectTimeout = timeout
      connection.readTimeout = timeout
      connection.instanceFollowRedirects = false
      connection.useCaches = false
      connection.requestMethod = request.method
      for ((name, value) in request.headers) connection.setRequestProperty(name, value)
      try {
        request.body?.let { body ->
          connection.doOutput = true
          connection.outputStream.use { it.write(body) }
        }
        if (isAbandoned) throw IOException("Abandoned")
        return response(connection)
      } finally {
        if (isAbandoned) connection.disconnect()
      }
    }

    /** Ends the exchange, on a separate thread: closing a connection may wait for the network. */
    fun abandon() {
      isAbandoned = true
      val connection = connection ?: return
      val thread = Thread({ connection.disconnect() }, "CheckoutKit end")
      thread.isDaemon = true
      thread.start()
    }
  }

  private companion object {
    const val BYTES_MAX = 1 shl 20

    fun response(connection: HttpURLConnection): HttpResponse {
      val status = connection.responseCode
      if (status < 100) throw IOException("The server does not speak HTTP")
      val headers = HashMap<String, String>()
      // By their places: the lists of `headerFields` are in the order of the message on Android, and reversed on a JVM.
      var place = 0
      while (true) {
        val value = connection.getHeaderField(place) ?: break
        // On a JVM the status line is at 0, without a name. Of several values the first counts.
        val name = connection.getHeaderFieldKey(place)?.let { LinkText.lowercased(it) }
        if (name != null && name !in headers) headers[name] = value
        place += 1
      }
      val stream: InputStream? = if (status >= 400) connection.errorStream else connection.inputStream
      return HttpResponse(status, headers, stream?.use { bytes(it) } ?: ByteArray(0))
    }

    fun bytes(stream: InputStream): ByteArray {
      val result = ByteArrayOutputStream()
      val buffer = ByteArray(8192)
      while (true) {
        val count = stream.read(buffer)
        if (count < 0) return result.toByteArray()
        if (result.size() + count > BYTES_MAX) throw LastingFailure("The answer exceeds $BYTES_MAX bytes")
        result.write(buffer, 0, count)
      }
    }
  }
}
