// The kit against the real daemon and a stand-in destination, which deploy/dev/kit-android starts.

package checkoutkit

import java.io.File
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.TimeUnit
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class RelayDaemonTest {
  @get:Rule val folder = TemporaryFolder()

  private val relay = setting("KIT_RELAY")
  private val app = setting("KIT_APP")
  private val price = setting("KIT_PRICE")
  private val key = Credential.ClientKey(setting("KIT_CLIENT_KEY"))
  private val context = WebCheckoutContext(price, presentationId = "pres_é", placementId = "onboarding")
  private val file: File get() = File(folder.root, "checkouts.json")

  private fun setting(name: String): String = System.getenv(name) ?: throw AssertionError("$name is missing")

  private fun client(credential: Credential = key, address: String = relay, clock: CheckoutClock = SystemClock) =
    RelayClient(
      address, app, credential, retries = RetryPolicy(attemptsMax = 3, firstPauseSeconds = 0.1), clock = clock)

  /** A post that failed is due again at once. */
  private fun checkouts(
    client: RelayClient = client(), pages: Map<String, String> = emptyMap(), clock: CheckoutClock = SystemClock
  ) = Checkouts(client, file, pages, clock = clock, jitter = { 1.0 })

  /** Runs a program whose path is in the environment. */
  private fun program(path: String, vararg arguments: String): String {
    val command = listOf(setting(path), "--config", setting("KIT_CONFIG")) + arguments
    val process = ProcessBuilder(command).redirectErrorStream(true).start()
    val output = process.inputStream.reader().readText()
    assertTrue(output, process.waitFor(60, TimeUnit.SECONDS))
    assertEquals(output, 0, process.exitValue())
    return output
  }

  /** The customer pays: Stripe's signed event, as with a Payment Link. */
  private fun pay(contextId: String) {
    program("KIT_SANDBOX", "event", "--app", app, "--price", price, "--context", contextId)
  }

  /** The receipt that the destination accepted. */
  private fun receipt(status: CheckoutStatus): Map<String, Any?> =
    read(program("KIT_RECEIPTCTL", "receipts", "show", status.receiptId!!, "--json"))

  private fun read(output: String): Map<String, Any?> = Json.readObject(output.toByteArray())!!

  @Test fun aCheckoutFromTheTapToTheReceipt() {
    val checkouts = checkouts()
    val begun = checkouts.begin(context, "user-a/1 é")
    assertTrue(begun.isPosted)
    assertEquals("https://buy.stripe.com/test_demo?client_reference_id=${begun.contextId}", begun.page)
    val open = checkouts.status(begun.contextId)
    assertEquals("open", open.state)
    assertEquals(Progress.PENDING, open.progress)
    pay(begun.contextId)
    val states = ArrayList<String>()
    val last = checkouts.follow(begun.contextId, 60.0) { states.add(it.state) }
    assertEquals(Progress.PROCESSED, last.progress)
    assertEquals("delivered", states.last())
    assertTrue(last.receiptId!!.startsWith("rcp_") && last.updatedAtMillis != null)
    assertTrue(checkouts.confirm(begun.contextId) { it == "user-a/1 é" })
    assertEquals(emptyList<String>(), checkouts.openIds("user-a/1 é"))
    assertEquals(context.plyContext(), receipt(last)["ply_context"])
    assertEquals("user-a/1 é", receipt(last)["user_id"])
  }

  @Test fun aPurchaseWithoutAUserIsClaimedOnce() {
    // A checkout that names nobody.
    program("KIT_SANDBOX", "event", "--app", app, "--price", price)
    val waiting = read(program("KIT_RECEIPTCTL", "receipts", "list", "--state", "waiting", "--reason", "user", "--json"))
    val id = waiting["id"] as String
    val made = read(program("KIT_RECEIPTCTL", "claims", "new", id, "--why", "lost in a browser", "--json"))
    val link = ClaimLink.read(LinkPath("v1", app, "claim", made["token"] as String))!!
    val checkouts = checkouts()
    checkouts.keepClaim(link)
    assertEquals(ClaimResult.CLAIMED, checkouts.claim(link, "user-c"))
    assertEquals(ClaimResult.REPLAY, checkouts.claim(link, "user-c"))
    assertEquals(ClaimResult.OTHER_USER, checkouts.claim(link, "user-d"))
    assertEquals("user-c", read(program("KIT_RECEIPTCTL", "receipts", "show", id, "--json"))["user_id"])
    val unknown = ClaimLink.read(LinkPath("v1", app, "claim", "clm_${"0".repeat(26)}"))!!
    assertEquals(ClaimResult.UNKNOWN, checkouts.claim(unknown, "user-c"))
  }

  @Test fun theRelayTakesTheKitsId() {
    val id = ContextId.create()
    val first = client().checkout(context, "user-b", id)
    assertEquals(id, first.contextId)
    assertFalse(first.isRepeat)
    val again = client().post(context, "user-b", id)
    assertTrue(again.isRepeat)
    assertEquals(first.contextId, again.contextId)
    assertEquals(first.receivedAtMillis, again.receivedAtMillis)
    assertEquals(409, failure<RelayException.Http> { client().post(context, "user-c", id) }.status)
    // Two taps are two contexts, also with the same content.
    val second = checkouts().begin(context, "user-b")
    val third = checkouts().begin(context, "user-b")
    assertNotEquals(second.contextId, third.contextId)
    assertEquals(setOf(second.contextId, third.contextId), checkouts().openIds("user-b").toSet())
  }

  @Test fun aSaleDoesNotWaitForTheRelay() {
    val unique = context.copy(placementId = "offline")
    // Nothing listens on the port of discard.
    val offline = checkouts(client(address = "http://127.0.0.1:9"), mapOf(price to "https://buy.stripe.com/test_demo"))
    val begun = offline.begin(unique, "user-d")
    assertFalse(begun.isPosted)
    assertEquals("https://buy.stripe.com/test_demo?client_reference_id=${begun.contextId}", begun.page)
    // The customer pays before the context arrives; then the app starts again.
    pay(begun.contextId)
    val next = checkouts()
    assertEquals(listOf(begun.contextId), next.openIds("user-d"))
    val last = next.follow(begun.contextId, 60.0) {}
    assertEquals(Progress.PROCESSED, last.progress)
    assertEquals(unique.plyContext(), receipt(last)["ply_context"])
    assertEquals("user-d", receipt(last)["user_id"])
    assertFalse(next.hasPending)
  }

  @Test fun aWrongClockIsCorrected() {
    val wrong = object : CheckoutClock by SystemClock {
      override val wallMillis: Long get() = SystemClock.wallMillis + 7_200_000L
    }
    val pages = mapOf(price to "https://buy.stripe.com/test_demo")
    val online = checkouts(client(clock = wrong), pages, wrong)
    // The relay refuses the id of the first, and makes one.
    val first = online.begin(context, "user-g")
    assertTrue(first.isPosted)
    assertEquals("open", online.status(first.contextId).state)
    // The next one opens without the relay, and its id is one that the relay accepts.
    val begun = checkouts(client(address = "http://127.0.0.1:9", clock = wrong), pages, wrong).begin(context, "user-g")
    assertFalse(begun.isPosted)
    pay(begun.contextId)
    val next = checkouts(client(clock = wrong), pages, wrong)
    val last = next.follow(begun.contextId, 60.0) {}
    assertEquals(Progress.PROCESSED, last.progress)
    assertEquals(begun.contextId, last.contextId)
    assertEquals("user-g", receipt(last)["user_id"])
  }

  @Test fun readsTheWayBack() {
    val id = client().checkout(context, "user-e").contextId
    val connection = URL("$relay/v1/$app/return?context_id=$id").openConnection() as HttpURLConnection
    connection.setRequestProperty("User-Agent", "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/120.0 Mobile")
    val page = connection.inputStream.reader().readText()
    val links = Regex("href=\"([^\"]+)\"").findAll(page).map { it.groupValues[1].replace("&amp;", "&") }.toList()
    val host = relay.substringAfter("//")
    val back = CheckoutReturn(app, id)
    val intent = links.single { it.startsWith("intent:") }
    assertTrue(intent, intent.contains(";package=com.example.demo;"))
    // The data of the intent: everything before the fragment, with the scheme that it names.
    val scheme = Regex(";scheme=([^;]+);").find(intent)!!.groupValues[1]
    val data = scheme + intent.substringBeforeLast('#').removePrefix("intent")
    assertEquals(scheme, "http")
    assertEquals(back.path, LinkPath.read(UrlParts(data), false))
    assertEquals(back, CheckoutReturn.read("demoapp" + data.removePrefix(scheme), setOf(host), setOf("demoapp")))
  }

  @Test fun readsTheRelaysRefusals() {
    val refused = failure<RelayException.Http> { client(Credential.ClientKey("wrong")).post(context, "user-f") }
    assertEquals(401, refused.status)
    assertEquals("urn:receiptd:problem:", refused.failure.problem!!.type!!.take(21))
    assertTrue(refused.logText.forLog, refused.logText.forLog.contains("Request "))
    val price = failure<RelayException.Http> { client().checkout(context.copy(stripePriceId = "price_other"), "user-f") }
    assertEquals(422, price.status)
    val unknown = failure<RelayException.Http> { client().status("ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD") }
    assertEquals(404, unknown.status)
    assertTrue(unknown.isUnknownContext)
    val elsewhere = failure<RelayException.Http> { client(address = "$relay/elsewhere").status("ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD") }
    assertEquals(404, elsewhere.status)
    assertFalse(elsewhere.isUnknownContext)
  }
}
