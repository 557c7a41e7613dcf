// The kit's transport against a server of sockets that misbehaves.

package checkoutkit

import java.io.IOException
import java.net.ConnectException
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.net.SocketTimeoutException
import java.util.Collections
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

class TransportTest {
  private val server = ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))
  private val sockets = Collections.synchronizedList(ArrayList<Socket>())
  private val heads = Collections.synchronizedList(ArrayList<String>())
  private val url = "http://127.0.0.1:${server.localPort}/v1/a"

  @After fun close() {
    server.close()
    sockets.forEach { it.close() }
  }

  /** Reads each request whole, and then lets a function answer on the socket. */
  private fun serve(answer: (Socket) -> Unit) = thread(isDaemon = true) {
    while (true) {
      val socket = try {
        server.accept()
      } catch (closed: IOException) {
        return@thread
      }
      sockets.add(socket)
      thread(isDaemon = true) {
        try {
          readRequest(socket)
          answer(socket)
        } catch (closed: IOException) {
          // The client has gone.
        }
      }
    }
  }

  private fun readRequest(socket: Socket) {
    val text = StringBuilder()
    val input = socket.getInputStream()
    while (!text.endsWith("\r\n\r\n")) text.append(input.read().also { if (it < 0) throw IOException() }.toChar())
    val length = Regex("(?i)content-length: (\\d+)").find(text)?.groupValues?.get(1)?.toInt() ?: 0
    for (count in 0 until length) text.append(input.read().toChar())
    heads.add(text.toString())
  }

  private fun Socket.answer(text: String) {
    getOutputStream().write(text.toByteArray(Charsets.ISO_8859_1))
    getOutputStream().flush()
  }

  private fun request(body: String? = null, timeoutMillis: Long = 20_000L) = HttpRequest(
    if (body == null) "GET" else "POST", url, mapOf("X-API-KEY" to "key"), body?.toByteArray(), timeoutMillis)

  private val transport = UrlConnectionTransport()

  @Test fun sendsAndReads() {
    serve { it.answer("HTTP/1.1 201 Created\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nok") }
    val response = transport.send(request("{\"a\":1}"))
    assertEquals(201, response.status)
    assertEquals("5", response.headers["retry-after"])
    assertEquals("ok", String(response.body))
    val sent = heads.single()
    assertTrue(sent, sent.startsWith("POST /v1/a HTTP/1.1\r\n"))
    assertTrue(sent, sent.contains("X-API-KEY: key\r\n") && sent.endsWith("\r\n\r\n{\"a\":1}"))
  }

  @Test fun readsTheBodyOfAnError() {
    for (status in listOf(400, 401, 404, 422, 503)) {
      val socket = ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))
      thread(isDaemon = true) {
        val client = socket.accept()
        readRequest(client)
        client.answer("HTTP/1.1 $status No\r\nWWW-Authenticate: Bearer error=\"invalid_token\"\r\nContent-Length: 4\r\n\r\nbody")
        client.close()
      }
      val response = socket.use {
        transport.send(HttpRequest("POST", "http://127.0.0.1:${it.localPort}/", emptyMap(), ByteArray(3), 20_000L))
      }
      assertEquals(status, response.status)
      assertEquals("body", String(response.body))
    }
  }

  @Test fun doesNotFollowARedirect() {
    serve { it.answer("HTTP/1.1 307 No\r\nLocation: $url/other\r\nContent-Length: 0\r\n\r\n") }
    assertEquals(307, transport.send(request()).status)
    assertEquals(1, heads.size)
  }

  @Test fun endsASilentAndATricklingServer() {
    // A byte now and then: no read takes long.
    val trickle = Executors.newScheduledThreadPool(1) { task -> Thread(task).also { it.isDaemon = true } }
    serve { socket ->
      socket.answer("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
      trickle.scheduleAtFixedRate({ socket.answer("x") }, 0, 20, TimeUnit.MILLISECONDS)
      CountDownLatch(1).await()
    }
    val began = System.nanoTime()
    val late = failure<SocketTimeoutException> { transport.send(request(timeoutMillis = 300L)) }
    assertTrue(late.message!!.contains("300 ms"))
    val seconds = (System.nanoTime() - began) / 1e9
    assertTrue("$seconds", seconds >= 0.3 && seconds < 10)
    trickle.shutdownNow()
  }

  @Test fun anInterruptEndsARequest() {
    val arrived = CountDownLatch(1)
    val ended = CountDownLatch(1)
    serve { arrived.countDown(); CountDownLatch(1).await() }
    val caller = thread {
      failure<InterruptedException> { transport.send(request()) }
      ended.countDown()
    }
    assertTrue(arrived.await(20, TimeUnit.SECONDS))
    caller.interrupt()
    assertTrue(ended.await(20, TimeUnit.SECONDS))
  }

  @Test fun reportsWhatIsNoAnswer() {
    serve { it.close() }
    failure<IOException> { transport.send(request()) }
    server.close()
    failure<ConnectException> { transport.send(request()) }
    failure<IOException> { transport.send(HttpRequest("GET", "x:y", emptyMap(), null, 1_000L)) }
    failure<LastingFailure> { transport.send(HttpRequest("GET", "file:///etc/hostname", emptyMap(), null, 1_000L)) }
  }

  @Test fun aMissingPermissionIsNotRetried() {
    val transport = UrlConnectionTransport { throw SecurityException("missing INTERNET permission?") }
    failure<SecurityException> { transport.send(request()) }
    val clock = FakeClock()
    val client = RelayClient("https://pay.example.com", "android", Credential.None, transport, clock = clock)
    val refused = failure<RelayException.Network> { client.status("ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD") }
    assertFalse(refused.isTransient)
    assertEquals(emptyList<Double>(), clock.sleeps)
    // What is wrong with a server must not end the app.
    failure<IOException> { UrlConnectionTransport { throw IllegalStateException() }.send(request()) }
  }

  @Test fun theFirstOfSeveralValuesCounts() {
    serve { it.answer("HTTP/1.1 200 OK\r\nRetry-After: 5\r\nretry-after: 7\r\nContent-Length: 0\r\n\r\n") }
    val headers = transport.send(request()).headers
    assertEquals("5", headers["retry-after"])
    assertEquals(setOf("retry-after", "content-length"), headers.keys)
  }

  @Test fun readsAtMostAMebibyte() {
    serve { socket ->
      socket.answer("HTTP/1.1 200 OK\r\nContent-Length: ${1 shl 30}\r\n\r\n")
      while (true) socket.answer("x".repeat(8192))
    }
    failure<LastingFailure> { transport.send(request()) }
  }

  @Test fun speaksHttpOnly() {
    serve { it.answer("SSH-2.0-server\r\n"); it.close() }
    failure<IOException> { transport.send(request()) }
    assertNull(HttpResponse(200, emptyMap(), ByteArray(0)).header("x"))
  }
}
