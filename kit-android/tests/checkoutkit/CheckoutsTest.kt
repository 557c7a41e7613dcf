// Checkouts from the tap to their end, with a relay that answers, refuses, is slow or is not there.

package checkoutkit

import checkoutkit.FakeTransport.Companion.json
import checkoutkit.FakeTransport.Companion.noNetwork
import checkoutkit.FakeTransport.Companion.posted
import checkoutkit.FakeTransport.Companion.problem
import checkoutkit.FakeTransport.Companion.status
import java.io.File
import java.util.Collections
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class CheckoutsTest {
  @get:Rule val folder = TemporaryFolder()
  private val clock = FakeClock()
  private val file: File get() = File(folder.root, "checkouts.json")
  private val logged = Collections.synchronizedList(ArrayList<String>())
  private val pages = mapOf("price_1" to "https://buy.example.com/a?x=1#top")
  private val context = WebCheckoutContext("price_1")

  private fun checkouts(transport: Transport, pages: Map<String, String> = this.pages) = Checkouts(
    RelayClient("https://pay.example.com", "android", Credential.None, transport, RetryPolicy(jitter = 0.0), clock),
    file, pages, clock = clock, log = { logged.add(it.forLog) }, jitter = { 0.0 })

  @Test fun opensThePageOfTheRelay() {
    val transport = FakeTransport { request, _ ->
      // The record is on the disk before the request is sent.
      assertTrue(file.readText().contains(Json.readObject(request.body!!)!!["id"] as String))
      posted(request)
    }
    val checkouts = checkouts(transport)
    val begun = checkouts.begin(context, "jdo-1")
    assertTrue(begun.isPosted)
    assertEquals(begun.contextId, transport.body(0)["id"])
    assertEquals("https://buy.example.com/a?client_reference_id=${begun.contextId}", begun.page)
    // The post goes on when the page is open.
    assertEquals(30_000L, transport.requests.single().timeoutMillis)
    assertEquals(listOf(begun.contextId), checkouts.openIds("jdo-1"))
    assertFalse(checkouts.hasPending)
    assertNull(checkouts.postPending())
    assertEquals(1, transport.requests.size)
  }

  @Test fun opensItsOwnPageWhenTheRelayIsNotThere() {
    val answers = listOf<() -> HttpResponse>(
      { noNetwork() }, { problem(503) }, { problem(401) }, { problem(422) }, { json(200, "<html>captive portal") })
    for (answer in answers) {
      val transport = FakeTransport { _, _ -> answer() }
      val checkouts = checkouts(transport)
      val begun = checkouts.begin(context, "jdo-1")
      assertFalse(begun.isPosted)
      assertEquals("https://buy.example.com/a?x=1&client_reference_id=${begun.contextId}#top", begun.page)
      // One attempt: the customer does not wait for a second one.
      assertEquals(1, transport.requests.size)
      assertTrue(clock.sleeps.isEmpty())
      assertTrue(checkouts.hasPending)
      checkouts.discard(begun.contextId)
    }
  }

  @Test fun aPostSurvivesTheEndOfTheProcess() {
    val begun = checkouts(FakeTransport { _, _ -> noNetwork() }).begin(context, "jdo-1")
    val transport = FakeTransport { request, _ -> posted(request, page = false) }
    val next = checkouts(transport)
    assertEquals(listOf(begun.contextId), next.openIds("jdo-1"))
    clock.advance(30.0)
    assertNull(next.postPending())
    assertEquals("https://pay.example.com/v1/android/users/jdo-1/contexts", transport.requests.single().url)
    assertEquals(mapOf("id" to begun.contextId, "ply_context" to context.plyContext()), transport.body(0))
    assertFalse(next.hasPending)
    assertEquals(listOf(begun.contextId), next.openIds("jdo-1"))
    assertEquals(listOf(begun.contextId), checkouts(transport).openIds("jdo-1"))
    assertFalse(file.readText().contains(context.plyContext()))
  }

  @Test fun oneTapIsOneContext() {
    val transport = FakeTransport { _, _ -> noNetwork() }
    val checkouts = checkouts(transport)
    val first = checkouts.begin(context, "jdo-1")
    val second = checkouts.begin(context, "jdo-1")
    assertNotEquals(first.contextId, second.contextId)
    for (round in 1..3) {
      clock.advance(7200.0)
      checkouts.postPending()
    }
    assertEquals(8, transport.requests.size)
    assertEquals(setOf(first.contextId, second.contextId), (0..7).map { transport.body(it)["id"] }.toSet())
  }

  @Test fun waitsLongerAfterEachFailure() {
    for (row in KitTables.rows("relay", "pauses")) {
      fun number(name: String): Long? = (row[name] as? JsonNumber)?.long
      val attempts = number("attempts")!!.toInt()
      val retryAfter = number("retryAfter")
      val transport = FakeTransport { _, number ->
        if (number < attempts || retryAfter == null) noNetwork()
        else json(429, "", "retry-after" to "$retryAfter")
      }
      val checkouts = checkouts(transport)
      val begun = checkouts.begin(context, "jdo-1")
      for (attempt in 2..attempts) {
        clock.advance(3600.0)
        checkouts.postPending()
      }
      // Nothing is posted before.
      assertEquals("$row", number("seconds")!!.toDouble(), checkouts.postPending()!!, 0.0)
      assertEquals(attempts, transport.requests.size)
      checkouts.discard(begun.contextId)
    }
  }

  @Test fun aClockThatWasSetBackDelaysNothing() {
    val transport = FakeTransport { _, _ -> noNetwork() }
    checkouts(transport).begin(context, "jdo-1")
    clock.advance(-300_000.0)
    checkouts(transport).postPending()
    assertEquals(2, transport.requests.size)
  }

  @Test fun aRefusedPostIsNotRepeatedAndTheSaleGoesOn() {
    for (row in KitTables.rows("relay", "posts")) {
      val checkouts = checkouts(FakeTransport { _, _ -> KitTables.answer(row) })
      val begun = checkouts.begin(context, "jdo-1")
      assertTrue("the first answer drops nothing: $row", checkouts.hasPending)
      clock.advance(60.0 + 86_400 * ((row["days"] as? JsonNumber)?.long ?: 0))
      assertEquals("$row", if (row["after"] == "kept") 60.0 else null, checkouts.postPending())
      assertEquals("$row", row["after"] == "kept", checkouts.hasPending)
      // The customer may have paid.
      assertEquals(listOf(begun.contextId), checkouts.openIds("jdo-1"))
      checkouts.discard(begun.contextId)
    }
    assertTrue("A context could not be posted within a week." in logged)
    assertTrue(logged.last(), logged.last().contains("422"))
    // It has the relay's words, and not its type.
    val foreign = checkouts(FakeTransport { _, _ -> json(422, "{\"type\":\"urn:receiptd:problem:x\"}") })
    foreign.begin(context, "jdo-1")
    clock.advance(60.0)
    assertEquals(60.0, foreign.postPending()!!, 0.0)
  }

  @Test fun withoutAPageNothingBeginsWithoutTheRelay() {
    val transport = FakeTransport { _, _ -> noNetwork() }
    val checkouts = checkouts(transport, mapOf("price_1" to "exampleapp://x", "other" to "https://x.test"))
    failure<RelayException.Network> { checkouts.begin(context, "jdo-1") }
    assertEquals(8, transport.requests.size)
    assertEquals(emptyList<String>(), checkouts.openIds("jdo-1"))
    failure<RelayException.Encoding> { checkouts(transport).begin(context, "") }
    assertEquals(emptyList<String>(), checkouts(transport).openIds("jdo-1"))
    val late = FakeTransport { request, number -> if (number < 3) noNetwork() else posted(request) }
    val begun = checkouts(late, emptyMap()).begin(context, "jdo-1")
    assertTrue(begun.isPosted && begun.page.endsWith(begun.contextId))
    assertEquals(listOf(begun.contextId), checkouts(late).openIds("jdo-1"))
  }

  @Test fun anOlderRelayChoosesTheId() {
    val old = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
    val body = "{\"context_id\":\"$old\",\"user_id\":\"u\",\"checkout_url\":\"https://buy.example.com/$old\"}"
    val checkouts = checkouts(FakeTransport { _, number -> if (number == 1) noNetwork() else json(201, body) })
    val begun = checkouts.begin(context, "u")
    assertNotEquals(old, begun.contextId)
    assertEquals("https://buy.example.com/$old", checkouts.begin(context, "u").page)
    clock.advance(60.0)
    checkouts.postPending()
    assertEquals(listOf(old), checkouts.openIds("u"))
  }

  @Test fun followsUntilItIsOver() {
    val transport = FakeTransport { request, number ->
      val id = request.url.substringAfterLast('/').substringBefore('?')
      when {
        number == 1 -> noNetwork()
        // Posted before the state is asked for.
        number == 2 -> posted(request)
        number == 3 -> status(id, "paid", true)
        else -> status(id, "delivered", true)
      }
    }
    val checkouts = checkouts(transport)
    val id = checkouts.begin(context, "jdo-1").contextId
    clock.advance(30.0)
    val states = ArrayList<String>()
    checkouts.follow(id) { states.add(it.state) }
    assertEquals(listOf("paid", "delivered"), states)
    assertEquals(listOf(id), checkouts(transport).openIds("jdo-1"))
    assertTrue(checkouts.confirm(id) { true })
    assertEquals(emptyList<String>(), checkouts.openIds("jdo-1"))
    assertEquals(emptyList<String>(), checkouts(transport).openIds("jdo-1"))
  }

  @Test fun keepsWhatIsPaidAndNotUnlocked() {
    var answer: (String) -> HttpResponse = { status(it, "failed", true) }
    val transport = FakeTransport { request, number ->
      if (number == 1) posted(request) else answer(request.url.substringAfterLast('/'))
    }
    val checkouts = checkouts(transport)
    val id = checkouts.begin(context, "jdo-1").contextId
    assertEquals(Progress.PROCESSING, checkouts.status(id).progress)
    answer = { noNetwork() }
    failure<RelayException.Network> { checkouts.status(id) }
    assertEquals(listOf(id), checkouts.openIds("jdo-1"))
    answer = { status(it, "cancelled", false) }
    assertEquals(Progress.UNPAID, checkouts.status(id).progress)
    assertEquals(emptyList<String>(), checkouts.openIds("jdo-1"))
  }

  @Test fun keepsABoundedNumberForABoundedTime() {
    var answer = { noNetwork() }
    val transport = FakeTransport { _, _ -> answer() }
    val checkouts = checkouts(transport)
    val ids = (1..51).map { checkouts.begin(context, "jdo-1").contextId }
    assertEquals(ids.drop(1), checkouts.openIds("jdo-1"))
    clock.advance(8 * 86_400.0)
    answer = { problem(401) }
    assertNull(checkouts.postPending())
    // The relay refused each once more; the customer may have paid.
    assertFalse(checkouts.hasPending)
    assertEquals(101, transport.requests.size)
    assertEquals(ids.drop(1), checkouts.openIds("jdo-1"))
    clock.advance(23 * 86_400.0)
    assertNull(checkouts.postPending())
    assertEquals(emptyList<String>(), checkouts.openIds("jdo-1"))
  }

  @Test fun aWrongClockAloneDropsNoContext() {
    for (step in listOf(8 * 86_400.0, 40 * 86_400.0, 20_000 * 86_400.0)) {
      var answer = { _: HttpRequest -> noNetwork() }
      val transport = FakeTransport { request, _ -> answer(request) }
      val checkouts = checkouts(transport)
      val id = checkouts.begin(context, "jdo-1").contextId
      clock.advance(step)
      checkouts.postPending()
      assertTrue(checkouts.hasPending)
      clock.advance(86_400.0)
      answer = { posted(it) }
      assertNull(checkouts(transport).postPending())
      assertEquals(id, transport.body(transport.requests.size - 1)["id"])
      checkouts(transport).discard(id)
    }
  }

  @Test fun aPauseIsALittleShorterByChance() {
    val relay = RelayClient("https://pay.example.com", "android", transport = FakeTransport { _, _ -> noNetwork() })
    for (attempt in 1..20) {
      val checkouts = Checkouts(relay, folder.newFile().also { it.delete() }, pages, clock = clock)
      checkouts.begin(context, "jdo-1")
      val wait = checkouts.postPending()!!
      assertTrue("$wait", wait > 23.9 && wait <= 30.0)
    }
  }

  @Test fun postsWithoutTheIdWhenTheRelayRefusesItsTime() {
    val made = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
    val refusal = json(
      422, "{\"type\":\"urn:receiptd:problem:context-id-time\"}", "content-type" to "application/problem+json")
    val transport = FakeTransport { request, _ ->
      if (Json.readObject(request.body!!)!!.containsKey("id")) refusal else posted(request)
    }
    val begun = checkouts(transport).begin(context, "jdo-1")
    assertTrue(begun.isPosted)
    assertEquals(made, begun.contextId)
    assertEquals("https://buy.example.com/a?client_reference_id=$made", begun.page)
    assertEquals(2, transport.requests.size)
    assertEquals(listOf(made), checkouts(transport).openIds("jdo-1"))
    assertFalse(checkouts(transport).hasPending)
    // Also without its own page.
    val paged = FakeTransport { request, number -> if (number == 1) refusal else posted(request) }
    assertEquals(made, checkouts(paged, emptyMap()).begin(context, "jdo-1").contextId)
  }

  @Test fun twoThreadsDoNotPostTheSameAtOnce() {
    val entered = CountDownLatch(1)
    val leave = CountDownLatch(1)
    val transport = FakeTransport { request, number ->
      if (number == 1) noNetwork()
      entered.countDown()
      leave.await()
      posted(request)
    }
    val checkouts = checkouts(transport)
    checkouts.begin(context, "jdo-1")
    clock.advance(60.0)
    val poster = thread { checkouts.postPending() }
    entered.await()
    checkouts.postPending()
    assertEquals(2, transport.requests.size)
    leave.countDown()
    poster.join()
    assertFalse(checkouts.hasPending)
  }

  @Test fun manyThreadsLoseNothing() {
    val checkouts = checkouts(FakeTransport { request, number -> if (number % 2 == 0) posted(request) else noNetwork() })
    val ids = Collections.synchronizedList(ArrayList<String>())
    val threads = (1..8).map { thread { for (tap in 1..6) ids.add(checkouts.begin(context, "jdo-1").contextId) } }
    threads.forEach { it.join() }
    assertEquals(ids.toSet(), checkouts.openIds("jdo-1").toSet())
    assertEquals(ids.toSet(), checkouts(FakeTransport { _, _ -> noNetwork() }).openIds("jdo-1").toSet())
  }
}
