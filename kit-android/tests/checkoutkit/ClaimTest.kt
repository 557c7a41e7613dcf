// A purchase without a user finds its account: the link, what the relay answers, and what the app keeps.

package checkoutkit

import checkoutkit.FakeTransport.Companion.json
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

  @Test fun theTokenIsASecret() = assertFalse(link.toString().contains(token))

  @Test fun postsTheTokenForTheSignedInUser() {
    val transport = FakeTransport { _, _ -> accepted(201) }
    assertEquals(ClaimResult.CLAIMED, client(transport).claim(link, "jdo/1"))
    val request = transport.requests.single()
    assertEquals("POST", request.method)
    assertEquals("https://pay.example.com/v1/android/users/jdo%2F1/claims", request.url)
    assertEquals("key", request.headers["X-API-KEY"])
    assertEquals(mapOf("token" to token), transport.body(0))
  }

  @Test fun eachAnswerHasItsResultOrDecidesNothing() {
    for (row in KitTables.rows("relay", "claims")) {
      val checkouts = checkouts(client { KitTables.answer(row) })
      checkouts.keepClaim(link)
      val result = try {
        checkouts.claim(link, "jdo-1")
      } catch (undecided: RelayException) {
        null
      }
      assertEquals("$row", row["result"], KitTables.name(result))
      assertEquals("$row", result != null && result != ClaimResult.RETRY_LATER, result?.isFinal == true)
      assertEquals("$row", if (result?.isFinal == true) null else link, checkouts.keptClaim)
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
