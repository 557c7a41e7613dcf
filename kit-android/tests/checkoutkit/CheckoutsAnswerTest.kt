// What the answers of the relay, and of others in between, mean for a checkout; and when posts are sent.

package checkoutkit

import checkoutkit.FakeTransport.Companion.json
import checkoutkit.FakeTransport.Companion.noNetwork
import checkoutkit.FakeTransport.Companion.posted
import checkoutkit.FakeTransport.Companion.problem
import checkoutkit.FakeTransport.Companion.status
import checkoutkit.FakeTransport.Companion.unknownContext
import java.io.File
import java.util.Collections
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class CheckoutsAnswerTest {
  @get:Rule val folder = TemporaryFolder()
  private val clock = FakeClock()
  private val file: File get() = File(folder.root, "checkouts.json")
  private val logged = Collections.synchronizedList(ArrayList<String>())
  private val pages = mapOf("price_1" to "https://buy.example.com/a")
  private val context = WebCheckoutContext("price_1")

  private fun checkouts(
    transport: Transport, credential: Credential = Credential.None, firstTimeoutMillis: Long = 60_000L
  ) = Checkouts(
    RelayClient("https://pay.example.com", "android", credential, transport, RetryPolicy.NONE, clock),
    file, pages, firstTimeoutMillis, clock, { logged.add(it.forLog) }, { 0.0 })

  /** The time in an id, in milliseconds since 1970. */
  private fun time(id: String): Long =
    id.substring(4, 14).fold(0L) { time, letter -> time * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(letter) }

  private fun methods(transport: FakeTransport) = transport.requests.map { it.method }

  // Answers that are not the relay's

  @Test fun onlyTheRelayKnowsWhatItDoesNotKnow() {
    var answer = { json(404, "<html>not found") }
    val transport = FakeTransport { request, number -> if (number == 1) posted(request) else answer() }
    val checkouts = checkouts(transport)
    val id = checkouts.begin(context, "jdo-1").contextId
    assertFalse(failure<RelayException.Http> { checkouts.status(id) }.isUnknownContext)
    answer = { problem(404, slug = "unknown-app") }
    failure<RelayException.Http> { checkouts.follow(id) }
    assertEquals(listOf(id), checkouts(transport).openIds("jdo-1"))
    answer = { unknownContext() }
    assertTrue(failure<RelayException.Http> { checkouts.status(id) }.isUnknownContext)
    assertEquals(emptyList<String>(), checkouts(transport).openIds("jdo-1"))
  }

  @Test fun aLatePaymentOfAnExpiredCheckoutIsFound() {
    var state = "expired"
    val transport = FakeTransport { request, number ->
      if (number == 1) posted(request) else status(request.url.substringAfterLast('/'), state, state != "expired")
    }
    val checkouts = checkouts(transport)
    val id = checkouts.begin(context, "jdo-1").contextId
    assertEquals(Progress.UNPAID, checkouts.follow(id).progress)
    assertEquals(emptyList<String>(), checkouts.openIds("jdo-1"))
    assertEquals(listOf(id), checkouts(transport).expiredIds("jdo-1"))
    state = "paid"
    assertEquals(Progress.PROCESSING, checkouts.status(id).progress)
    assertEquals(listOf(id), checkouts(transport).openIds("jdo-1"))
    assertEquals(emptyList<String>(), checkouts.expiredIds("jdo-1"))
    state = "delivered"
    checkouts.status(id)
    assertEquals("delivered is not unlocked", listOf(id), checkouts(transport).openIds("jdo-1"))
    val asked = ArrayList<String>()
    assertFalse(checkouts.confirm(id) { user -> asked.add(user); false })
    assertEquals(List(7) { "jdo-1" }, asked)
    assertEquals(listOf(1.0, 2.0, 4.0, 8.0, 16.0, 32.0), clock.sleeps)
    assertTrue(checkouts.confirm(id) { asked.size == 7 })
    assertEquals(emptyList<String>(), checkouts.openIds("jdo-1"))
    assertFalse("nothing is left to confirm", checkouts.confirm(id) { true })
  }

  // The clock

  @Test fun learnsTheRelaysClock() {
    val date = "date" to "Thu, 20 Nov 2025 08:00:00 GMT"
    val relays = 1_763_625_600_000L
    assertEquals(7_200_000L, clock.wallMillis - relays)
    val refusal = HttpResponse(
      422, mapOf("content-type" to "application/problem+json", date),
      "{\"type\":\"urn:receiptd:problem:context-id-time\"}".toByteArray())
    val transport = FakeTransport { request, number ->
      when {
        number == 1 -> HttpResponse(200, mapOf("content-type" to "text/html", date), "<html>".toByteArray())
        number == 2 -> refusal
        number == 3 -> posted(request)
        else -> noNetwork()
      }
    }
    val checkouts = checkouts(transport)
    // Of a captive portal nothing is learned.
    assertEquals(clock.wallMillis, time(checkouts.begin(context, "jdo-1").contextId))
    assertTrue(checkouts.begin(context, "jdo-1").isPosted)
    assertEquals(clock.wallMillis, time(transport.body(1)["id"] as String))
    assertEquals(relays, time(checkouts.begin(context, "jdo-1").contextId))
    // The next process knows it, without an answer.
    assertEquals(relays, time(checkouts(transport).begin(context, "jdo-1").contextId))
    // Ages and pauses are those of the device.
    clock.advance(30.0)
    checkouts.postPending()
    assertEquals("POST", transport.requests.last().method)
  }

  @Test fun aSmallDifferenceIsNotWorthAWrite() {
    val transport = FakeTransport { request, _ ->
      posted(request).let { HttpResponse(201, it.headers + ("date" to "Thu, 20 Nov 2025 10:00:50 GMT"), it.body) }
    }
    val checkouts = checkouts(transport)
    checkouts.begin(context, "jdo-1")
    assertEquals(clock.wallMillis, time(checkouts.begin(context, "jdo-1").contextId))
    assertTrue(file.readText(), file.readText().contains("\"clock_offset\":0,"))
  }

  // When posts are sent

  @Test fun aPostWaitsForItsTimeAlsoWhenItsStateIsAsked() {
    val transport = FakeTransport { request, number ->
      when {
        number == 1 -> problem(503).let { HttpResponse(503, it.headers + ("retry-after" to "300"), it.body) }
        request.method == "GET" -> unknownContext()
        else -> posted(request)
      }
    }
    val checkouts = checkouts(transport)
    val id = checkouts.begin(context, "jdo-1").contextId
    assertTrue(failure<RelayException.Http> { checkouts.status(id) }.isUnknownContext)
    failure<RelayException.Http> { checkouts.follow(id, 100.0) }
    assertEquals(listOf("POST", "GET", "GET"), methods(transport))
    assertEquals(listOf(id), checkouts.openIds("jdo-1"))
    clock.advance(300.0)
    failure<RelayException.Http> { checkouts.status(id) }
    assertEquals(listOf("POST", "GET", "GET", "POST", "GET"), methods(transport))
    assertFalse(checkouts.hasPending)
  }

  @Test fun aCheckoutThatIsFollowedIsPostedAsSoonAsItMayBe() {
    val transport = FakeTransport { request, number ->
      when (number) {
        1 -> noNetwork()
        2 -> unknownContext()
        3 -> posted(request)
        else -> status(request.url.substringAfterLast('/').substringBefore('?'), "delivered", true)
      }
    }
    val checkouts = checkouts(transport)
    val id = checkouts.begin(context, "jdo-1").contextId
    assertEquals(Progress.PROCESSED, checkouts.follow(id).progress)
    assertEquals(listOf("POST", "GET", "POST", "GET"), methods(transport))
    assertEquals(listOf(30.0), clock.sleeps)
  }

  @Test fun aCheckoutWhoseAnswerWasLostIsFoundAtOnce() {
    val transport = FakeTransport { request, number ->
      if (number == 1) noNetwork() else status(request.url.substringAfterLast('/').substringBefore('?'), "delivered", true)
    }
    val checkouts = checkouts(transport)
    val id = checkouts.begin(context, "jdo-1").contextId
    checkouts.follow(id)
    assertEquals(listOf("POST", "GET"), methods(transport))
    assertFalse(checkouts.hasPending)
  }

  @Test fun whatIsForgottenIsNotPosted() {
    lateinit var checkouts: Checkouts
    val transport = FakeTransport { _, number ->
      if (number == 4) checkouts.forget("jdo-1")
      noNetwork()
    }
    checkouts = checkouts(transport)
    checkouts.begin(context, "jdo-2")
    checkouts.begin(context, "jdo-1")
    checkouts.begin(context, "jdo-1")
    clock.advance(60.0)
    checkouts.postPending()
    // The fourth request was the other user's; the two others were waiting in the same round.
    assertEquals(4, transport.requests.size)
    assertEquals(1, checkouts.openIds("jdo-2").size)
  }

  // How long a sale waits

  @Test fun nothingHoldsASaleUp() {
    val leave = CountDownLatch(1)
    val posted = CountDownLatch(1)
    val transport = FakeTransport { request, _ -> posted(request).also { posted.countDown() } }
    // The server of the tokens does not answer.
    val token = Credential.Token {
      leave.await()
      "token"
    }
    val checkouts = checkouts(transport, token, 50L)
    val begun = checkouts.begin(context, "jdo-1")
    assertFalse(begun.isPosted)
    assertEquals("https://buy.example.com/a?client_reference_id=${begun.contextId}", begun.page)
    assertEquals(0, transport.requests.size)
    // The post is under way, so it is not sent twice.
    checkouts.postPending()
    assertEquals(0, transport.requests.size)
    leave.countDown()
    assertTrue(posted.await(30, TimeUnit.SECONDS))
    awaitPosted(checkouts)
    assertEquals(begun.contextId, transport.body(0)["id"])
    assertEquals(listOf(begun.contextId), checkouts.openIds("jdo-1"))
  }

  private fun awaitPosted(checkouts: Checkouts) {
    val deadline = System.nanoTime() + 30_000_000_000L
    while (checkouts.hasPending && System.nanoTime() < deadline) Thread.yield()
    assertFalse(checkouts.hasPending)
  }

  @Test fun anInterruptEndsASale() {
    val arrived = CountDownLatch(1)
    val interrupted = CountDownLatch(1)
    val transport = FakeTransport { _, _ ->
      arrived.countDown()
      try {
        CountDownLatch(1).await()
        noNetwork()
      } catch (ended: InterruptedException) {
        interrupted.countDown()
        throw ended
      }
    }
    val checkouts = checkouts(transport)
    var isInterrupted = false
    val caller = thread {
      failure<RelayException.Cancelled> { checkouts.begin(context, "jdo-1") }
      isInterrupted = Thread.currentThread().isInterrupted
    }
    assertTrue(arrived.await(30, TimeUnit.SECONDS))
    caller.interrupt()
    caller.join()
    assertTrue(isInterrupted)
    assertTrue(interrupted.await(30, TimeUnit.SECONDS))
    assertEquals(emptyList<String>(), checkouts.openIds("jdo-1"))
    assertNull(checkouts.postPending())
  }

  @Test fun theOldestExpiredCheckoutMakesRoom() {
    val transport = FakeTransport { request, _ ->
      if (request.method == "POST") posted(request) else status(request.url.substringAfterLast('/'), "expired", false)
    }
    val checkouts = checkouts(transport)
    val ids = (1..50).map { checkouts.begin(context, "jdo-1").contextId }
    checkouts.status(ids[7])
    val last = checkouts.begin(context, "jdo-1").contextId
    assertNotEquals(ids.first(), last)
    assertEquals(ids - ids[7] + last, checkouts.openIds("jdo-1"))
    assertEquals(emptyList<String>(), checkouts.expiredIds("jdo-1"))
  }
}
