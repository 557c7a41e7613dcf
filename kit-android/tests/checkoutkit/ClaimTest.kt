// A purchase without a user finds its account: the link, what the relay answers, and what the app keeps.

package checkoutkit

import checkoutkit.FakeTransport.Companion.json
import checkoutkit.FakeTransport.Companion.noNetwork
import checkoutkit.FakeTransport.Companion.posted
import checkoutkit.FakeTransport.Companion.problem
import java.io.File
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class ClaimTest {
  @get:Rule val folder = TemporaryFolder()

  private val hosts = setOf("pay.example.com")
  private val schemes = setOf("exampleapp")
  private val token = "clm_01HXZ4T9V8KQ2M3N4P5R6S7T8V"
  private val address = "https://pay.example.com/v1/android/claim/$token"
  private val link = ClaimLink.read(address, hosts)!!

  private fun accepted(status: Int, more: String = "") = json(status, "{\"status_url\":\"/v1/android/x\"$more}")

  private fun client(answer: () -> HttpResponse) = client(FakeTransport { _, _ -> answer() })

  private fun client(transport: Transport) =
    RelayClient("https://pay.example.com", "android", Credential.ClientKey("key"), transport, RetryPolicy.NONE, FakeClock())

  private fun checkouts(relay: RelayClient) = Checkouts(
    relay, File(folder.root, "checkouts.json"), mapOf("price_1" to "https://buy.example.com/a"), clock = FakeClock())

  @Test fun readsTheLink() {
    for (url in listOf(
      address, "$address/", "exampleapp://pay.example.com/v1/android/claim/$token",
      "ExampleApp://PAY.example.com/v1/android/claim/$token?utm=x#y")) {
      assertEquals(url, link, ClaimLink.read(url, hosts, schemes))
    }
    assertEquals("android", link.app)
    assertEquals(token, link.token)
    assertEquals(address, link.path.appLink("pay.example.com"))
    assertFalse("the token is a secret", link.toString().contains(token))
  }

  @Test fun refusesOtherLinks() {
    for (url in listOf(
      "https://evil.test/v1/android/claim/$token", "http://pay.example.com/v1/android/claim/$token",
      "exampleapp://evil.test/v1/android/claim/$token", "https://pay.example.com/v1/android/claim", "${address}0",
      "$address/x", "https://pay.example.com/v1/android/claim/${token.toLowerCase()}",
      "https://pay.example.com/v1/android/claim/ctx_01HXZ4T9V8KQ2M3N4P5R6S7T8V",
      "https://pay.example.com/v1/ANDROID/claim/$token", "https://pay.example.com/v1/android/return/$token",
      "exampleapp://ply/redeem/$token")) {
      assertNull(url, ClaimLink.read(url, hosts, schemes))
    }
  }

  @Test fun postsTheTokenForTheSignedInUser() {
    val transport = FakeTransport { _, _ -> accepted(201) }
    assertEquals(ClaimResult.CLAIMED, client(transport).claim(link, "jdo/1"))
    val request = transport.requests.single()
    assertEquals("POST", request.method)
    assertEquals("https://pay.example.com/v1/android/users/jdo%2F1/claims", request.url)
    assertEquals("key", request.headers["X-API-KEY"])
    assertEquals(mapOf("token" to token), transport.body(0))
  }

  @Test fun eachAnswerHasItsResult() {
    for ((answer, result) in listOf<Pair<() -> HttpResponse, ClaimResult>>(
      Pair({ accepted(201) }, ClaimResult.CLAIMED), Pair({ accepted(200, ",\"replay\":true") }, ClaimResult.REPLAY),
      Pair({ problem(409, slug = "claimed-by-another-user") }, ClaimResult.OTHER_USER),
      Pair({ problem(410, slug = "claim-gone") }, ClaimResult.EXPIRED),
      Pair({ problem(404, slug = "unknown-claim") }, ClaimResult.UNKNOWN),
      Pair({ problem(429) }, ClaimResult.RETRY_LATER), Pair({ json(503, "") }, ClaimResult.RETRY_LATER),
      Pair({ noNetwork() }, ClaimResult.RETRY_LATER))) {
      assertEquals(result, client(answer).claim(link, "jdo-1"))
      assertEquals(result != ClaimResult.RETRY_LATER, result.isFinal)
    }
  }

  @Test fun whatDoesNotComeFromTheRelayDecidesNothing() {
    for (answer in listOf(
      json(200, "<html>Log in to the hotel's network</html>"), json(404, ""), json(410, "gone"), json(409, ""),
      problem(401), problem(404, slug = "not-found"), problem(422, slug = "placeholder-user"))) {
      val checkouts = checkouts(client { answer })
      checkouts.keepClaim(link)
      failure<RelayException> { checkouts.claim(link, "jdo-1") }
      assertEquals(link, checkouts.keptClaim)
    }
  }

  @Test fun theLinkIsKeptUntilTheRelayHasDecided() {
    val transport = FakeTransport { _, number -> if (number == 1) problem(503) else accepted(201) }
    val relay = client(transport)
    val earlier = ClaimLink.read("https://pay.example.com/v1/android/claim/clm_00000000000000000000000000", hosts)!!
    assertNull(checkouts(relay).keptClaim)
    checkouts(relay).keepClaim(earlier)
    checkouts(relay).keepClaim(link)
    // The process ends.
    val checkouts = checkouts(relay)
    assertEquals(link, checkouts.keptClaim)
    assertEquals(ClaimResult.RETRY_LATER, checkouts.claim(link, "jdo-1"))
    assertEquals(link, checkouts(relay).keptClaim)
    // The result of an earlier link leaves the newer one.
    checkouts.keepClaim(earlier)
    assertEquals(ClaimResult.CLAIMED, checkouts.claim(link, "jdo-1"))
    assertEquals(earlier, checkouts.keptClaim)
    checkouts.discardClaim()
    assertNull(checkouts(relay).keptClaim)
  }

  @Test fun openCheckoutsAreKeptPerUser() {
    val checkouts = checkouts(client(FakeTransport { request, _ -> posted(request) }))
    val context = WebCheckoutContext("price_1")
    val anna = checkouts.begin(context, "anna").contextId
    val ben = checkouts.begin(context, "ben").contextId
    assertEquals(listOf(anna), checkouts.openIds("anna"))
    assertEquals(listOf(ben), checkouts.openIds("ben"))
    assertEquals(emptyList<String>(), checkouts.openIds("Anna"))
    assertEquals(emptyList<String>(), checkouts.expiredIds("anna"))
  }

  @Test fun readsWhatWasCharged() {
    val body = "{\"context_id\":\"ctx_1\",\"state\":\"delivered\",\"paid\":true,\"amount\":0,\"currency\":null,\"trial\":true}"
    val status = CheckoutStatus.read(body.toByteArray())!!
    assertEquals(0L, status.amount)
    assertNull(status.currency)
    assertEquals(true, status.isTrial)
    val older = CheckoutStatus.read("{\"context_id\":\"ctx_1\",\"state\":\"paid\"}".toByteArray())!!
    assertNull(older.amount)
    assertFalse(older.isTrial)
  }
}
