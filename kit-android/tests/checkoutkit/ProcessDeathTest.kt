// A process is killed while its post is under way; the next process posts it.

package checkoutkit

import java.io.File
import java.net.InetAddress
import java.net.ServerSocket
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class ProcessDeathTest {
  @get:Rule val folder = TemporaryFolder()

  @Test fun aPostSurvivesAKill() {
    val file = File(folder.root, "checkouts.json")
    ServerSocket(0, 5, InetAddress.getByName("127.0.0.1")).use { server ->
      val java = File(System.getProperty("java.home"), "bin/java").path
      val child = ProcessBuilder(
        java, "-cp", System.getProperty("java.class.path"), "checkoutkit.ProcessDeathTestKt",
        "http://127.0.0.1:${server.localPort}", file.path).redirectErrorStream(true).start()
      // Kills it when its request has arrived, which never gets an answer.
      val output = StringBuilder()
      val reader = thread { output.append(child.inputStream.reader().readText()) }
      server.soTimeout = 60_000
      server.accept().use { socket ->
        assertTrue(socket.getInputStream().read() == 'P' - '\u0000')
        child.destroyForcibly()
        assertTrue(child.waitFor(60, TimeUnit.SECONDS))
      }
      reader.join()
      assertEquals("", output.toString())
    }
    val transport = FakeTransport { request, _ -> FakeTransport.posted(request) }
    val next = Checkouts(
      RelayClient("https://pay.example.com", "android", Credential.None, transport), file,
      mapOf("price_1" to "https://buy.example.com/a"))
    val id = next.openIds("jdo-1").single()
    assertTrue(next.hasPending)
    next.postPending()
    assertEquals(id, transport.body(0)["id"])
    assertEquals(false, next.hasPending)
  }
}

/** The app that is killed: its tap waits for the relay. */
fun main(arguments: Array<String>) {
  val checkouts = Checkouts(
    RelayClient(arguments[0], "android"), File(arguments[1]), mapOf("price_1" to "https://buy.example.com/a"),
    firstTimeoutMillis = 120_000L)
  checkouts.begin(WebCheckoutContext("price_1"), "jdo-1")
  println("It was not killed.")
}
