// The requests of the client, and the meaning of each answer (PL04, PL05 of docs/link-checks.md).

package checkoutkit

import checkoutkit.FakeTransport.Companion.json
import checkoutkit.FakeTransport.Companion.noNetwork
import checkoutkit.FakeTransport.Companion.posted
import checkoutkit.FakeTransport.Companion.problem
import checkoutkit.FakeTransport.Companion.status
import java.io.IOException
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

class RelayClientTest {
  private val clock = FakeClock()
  private val context = WebCheckoutContext("price_1")
  private val id = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"

  private fun client(
    transport: Transport, credential: Credential = Credential.None, relay: String = "https://pay.example.com",
    app: String = "android", retries: RetryPolicy = RetryPolicy(jitter = 0.0)
  ) = RelayClient(relay, app, credential, transport, retries, clock)

  @Test fun postsTheContext() {
    val transport = FakeTransport { request, _ -> posted(request) }
    val answer = client(transport, Credential.ClientKey("key"), "https://pay.example.com/relay/")
      .checkout(context, "jdo/1 é", id)
    val request = transport.requests.single()
    assertEquals("POST", request.method)
    assertEquals("https://pay.example.com/relay/v1/android/users/jdo%2F1%20%C3%A9/checkout", request.url)
    assertEquals("application/json; charset=utf-8", request.headers["Content-Type"])
    assertEquals("application/json", request.headers["Accept"])
    assertEquals("key", request.headers["X-API-KEY"])
    assertEquals(mapOf("id" to id, "ply_context" to context.plyContext()), transport.body(0))
    assertEquals(5_000L, request.timeoutMillis)
    assertEquals(id, answer.contextId)
    assertEquals("https://buy.example.com/a?client_reference_id=$id", answer.checkoutUrl)
    assertFalse(answer.isRepeat)
  }

  @Test fun anyUserIsOneSegmentOfThePath() {
    for (row in KitTables.rows("relay", "users").filter { "segment" in it }) {
      val transport = FakeTransport { request, _ -> posted(request) }
      client(transport).post(context, row["id"] as String)
      assertEquals("https://pay.example.com/v1/android/users/${row["segment"]}/contexts", transport.requests.single().url)
    }
  }

  @Test fun readsEveryMemberOfAnAnswer() {
    val body = "{\"context_id\":\"$id\",\"user_id\":\"u\",\"stripe_price_id\":\"p\"," +
      "\"received_at\":\"2025-11-20T10:00:00.123Z\",\"expires_at\":\"2025-11-21T10:00:00Z\",\"checkout_url\":null}"
    val answer = client(FakeTransport { _, _ -> json(200, body) }).post(context, "u")
    assertEquals(PostedContext(id, "u", "p", 1763632800123L, 1763719200000L, null, true), answer)
  }

  @Test fun doesNotOpenAPageThatIsNotOfTheWeb() {
    for (url in listOf("intent://x#Intent;end", "javascript:alert(1)", "exampleapp://x")) {
      val transport = FakeTransport { _, _ -> json(201, "{\"context_id\":\"$id\",\"user_id\":\"u\",\"checkout_url\":\"$url\"}") }
      assertNull(client(transport).post(context, "u").checkoutUrl)
      failure<RelayException.UnexpectedAnswer> { client(transport).checkout(context, "u") }
    }
  }

  @Test fun repeatsTheSameBytesUntilTheRelayAnswers() {
    val transport = FakeTransport { request, number ->
      when (number) {
        1 -> noNetwork()
        2 -> problem(503)
        3 -> json(429, "", "retry-after" to "7")
        else -> posted(request, 200)
      }
    }
    assertTrue(client(transport).post(context, "u").isRepeat)
    assertEquals(listOf(0.5, 1.0, 7.0), clock.sleeps)
    assertEquals(listOf(5_000L, 30_000L, 30_000L, 30_000L), transport.requests.map { it.timeoutMillis })
    assertEquals(1, transport.requests.map { String(it.body!!) }.toSet().size)
  }

  @Test fun givesUpWhenItsPatienceIsUsedUp() {
    val transport = FakeTransport { _, _ -> noNetwork() }
    val failure = failure<RelayException.Network> { client(transport).post(context, "u") }
    assertEquals(8, transport.requests.size)
    assertEquals(Advice.CHECK_CONNECTION, failure.advice)
    val slow = FakeTransport { _, _ -> json(503, "", "retry-after" to "61") }
    assertEquals(503, failure<RelayException.Http> { client(slow).post(context, "u") }.status)
    assertEquals(1, slow.requests.size)
  }

  @Test fun doesNotRepeatWhatWouldFailAgain() {
    for (answer in listOf(302, 400, 403, 404, 413, 415, 422)) {
      val transport = FakeTransport { _, _ -> problem(answer) }
      val failure = failure<RelayException.Http> { client(transport).post(context, "u") }
      assertEquals(1, transport.requests.size)
      assertEquals(answer, failure.status)
      assertEquals(Advice.CONTACT_SUPPORT, failure.advice)
      assertEquals("urn:receiptd:problem:x", failure.failure.problem!!.type)
      assertEquals("The relay answered $answer. Do this. Request req_1.", failure.logText.forLog)
      assertFalse("${failure.message} ${failure.logText}".contains("Do this"))
    }
    val big = FakeTransport { _, _ -> throw LastingFailure("too large") }
    assertEquals(Advice.CONTACT_SUPPORT, failure<RelayException.Network> { client(big).post(context, "u") }.advice)
    assertEquals(1, big.requests.size)
  }

  @Test fun refusesAnAnswerThatIsNotTheRelays() {
    for (body in listOf("", "<html>", "[]", "{}", "{\"context_id\":7,\"user_id\":\"u\"}")) {
      val failure = failure<RelayException.UnexpectedAnswer> {
        client(FakeTransport { _, _ -> json(200, body) }).post(context, "u")
      }
      assertEquals(Advice.CHECK_CONNECTION, failure.advice)
      assertEquals(body, failure.body.forLog)
    }
  }

  @Test fun renewsATokenOnce() {
    var tokens = 0
    val credential = Credential.Token { "token-${++tokens}" }
    val transport = FakeTransport { request, number -> if (number == 1) problem(401) else posted(request) }
    client(transport, credential, retries = RetryPolicy.NONE).post(context, "u")
    assertEquals(listOf("Bearer token-1", "Bearer token-2"), transport.requests.map { it.headers["Authorization"] })
    val refusing = FakeTransport { _, _ -> problem(401) }
    failure<RelayException.Http> { client(refusing, credential).post(context, "u") }
    assertEquals(2, refusing.requests.size)
    val keyed = FakeTransport { _, _ -> problem(401) }
    failure<RelayException.Http> { client(keyed, Credential.ClientKey("k")).post(context, "u") }
    assertEquals(1, keyed.requests.size)
  }

  @Test fun aTokenThatIsNotThereIsNotAnAnswer() {
    val transport = FakeTransport { request, _ -> posted(request) }
    failure<RelayException.NoToken> { client(transport, Credential.Token { error("signed out") }).post(context, "u") }
    var calls = 0
    client(transport, Credential.Token { if (++calls < 3) throw IOException() else "t" }).post(context, "u")
    assertEquals(3, calls)
    for (key in listOf("", "a b", "a\nX: y", "é")) {
      failure<RelayException.Encoding> { client(transport, Credential.ClientKey(key)).post(context, "u") }
    }
    assertEquals(1, transport.requests.size)
  }

  @Test fun refusesAddressesThatWouldLeakTheKey() {
    val transport = FakeTransport { request, _ -> posted(request) }
    for (relay in listOf("http://pay.example.com", "https://user@pay.example.com", "ftp://localhost", "pay.example.com",
      "https://", "https:///x", "http://localhost.evil.test", "http://localhost:80@evil.test", "https://a b")) {
      failure<RelayException.Encoding> { client(transport, relay = relay).post(context, "u") }
    }
    val users = KitTables.rows("relay", "users").filter { "segment" !in it }.map { it["id"] as String }
    for (user in users + listOf("x".repeat(256), "\uD800")) {
      failure<RelayException.Encoding> { client(transport).post(context, user) }
    }
    for (app in listOf("", "A", "-a", "a/b", "a".repeat(64))) {
      failure<RelayException.Encoding> { client(transport, app = app).post(context, "u") }
    }
    failure<RelayException.Encoding> { client(transport).status("a\u0000") }
    assertEquals(0, transport.requests.size)
    for (relay in listOf("http://localhost:8080", "http://127.0.0.1", "http://[::1]:1", "HTTPS://pay.example.com/")) {
      client(transport, relay = relay).post(context, "u")
    }
    assertEquals(
      listOf("http://localhost:8080", "http://127.0.0.1", "http://[::1]:1", "https://pay.example.com")
        .map { "$it/v1/android/users/u/contexts" }, transport.requests.map { it.url })
  }

  @Test fun asksForTheStateWithTheIdAlone() {
    val transport = FakeTransport { _, _ -> status(id, "failed", true) }
    val status = client(transport, Credential.ClientKey("k")).status(id)
    assertEquals(Progress.PROCESSING, status.progress)
    assertTrue(status.isFinal)
    assertEquals(1763632800123L, status.updatedAtMillis)
    val request = transport.requests.single()
    assertEquals("https://pay.example.com/v1/android/contexts/$id", request.url)
    assertEquals(mapOf("Accept" to "application/json"), request.headers)
  }

  @Test fun decidesByPaidAndState() {
    for (row in KitTables.rows("relay", "status")) {
      val status = CheckoutStatus.read(Json.write(row + ("context_id" to "c")).toByteArray())!!
      assertEquals("$row", row["progress"], KitTables.name(status.progress))
    }
    for (body in KitTables.list("relay", "notStatus")) assertNull(CheckoutStatus.read((body as String).toByteArray()))
    val older = "{\"context_id\":\"c\",\"state\":\"expired\",\"paid\":null}"
    assertEquals(Progress.UNPAID, CheckoutStatus.read(older.toByteArray())!!.progress)
  }

  @Test fun followsUntilTheEnd() {
    val transport = FakeTransport { _, number ->
      when (number) {
        1, 2 -> status(id, "open", false)
        3 -> noNetwork()
        4 -> status(id, "paid", true)
        else -> status(id, "delivered", true)
      }
    }
    val states = ArrayList<String>()
    client(transport).follow(id) { states.add(it.state) }
    assertEquals(listOf("open", "paid", "delivered"), states)
    val base = "https://pay.example.com/v1/android/contexts/$id"
    assertEquals(listOf(base) + List(4) { "$base?wait=15" }, transport.requests.map { it.url })
    assertEquals(30_000L, transport.requests[1].timeoutMillis)
    // The pace when the relay answers at once, and the pause of the retry.
    assertEquals(listOf(1.0, 0.5, 0.5), clock.sleeps)
  }

  @Test fun endsWhenTheTimeIsUp() {
    val transport = FakeTransport { _, _ -> clock.advance(4.0); status(id, "open", false) }
    failure<RelayException.TimedOut> { client(transport).finalStatus(id, 10.0) }
    assertEquals(listOf("", "?wait=6", "?wait=2"), transport.requests.map { it.url.substringAfter(id) })
    val none = FakeTransport { _, _ -> clock.advance(4.0); noNetwork() }
    failure<RelayException.Network> { client(none).finalStatus(id, 10.0) }
  }

  @Test fun anInterruptEndsACall() {
    val transport = FakeTransport { _, _ -> Thread.currentThread().interrupt(); noNetwork() }
    failure<RelayException.Cancelled> { client(transport).post(context, "u") }
    assertTrue(Thread.interrupted())
    assertEquals(1, transport.requests.size)
    Thread.currentThread().interrupt()
    failure<RelayException.Cancelled> { client(transport).post(context, "u") }
    assertTrue(Thread.interrupted())
    assertEquals(1, transport.requests.size)
  }
}
