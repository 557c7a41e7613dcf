// Links into the app, with the numbers of docs/link-checks.md.

package checkoutkit

import java.util.Collections
import kotlin.concurrent.thread
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

class LinkTest {
  private val hosts = setOf("Pay.example.com")
  private val schemes = setOf("exampleapp", "https")

  private fun path(url: String): LinkPath? = LinkReader(schemes, hosts).path(url)

  @Test fun dl01to06_readsPathsOfBothKinds() {
    assertEquals(LinkPath("messages", "1"), path("exampleapp://messages/1"))
    assertEquals(LinkPath("messages", "1"), path("EXAMPLEAPP://Messages/1"))
    assertEquals(LinkPath("messages"), path("exampleapp://messages/"))
    assertEquals(LinkPath("request", "a/b"), path("exampleapp://request/a%2Fb"))
    assertEquals(LinkPath("messages", "É"), path("https://pay.example.com/messages/%C3%89"))
    assertEquals(LinkPath("messages"), path("https://PAY.example.com:443/messages"))
    assertEquals(LinkPath("messages"), path("exampleapp://pay.example.com/messages"))
    assertEquals(LinkPath(listOf("a"), mapOf("x" to "1", "y" to "", "z" to "+ ")), path("exampleapp://a?x=1&y&x=2&z=+%20"))
    for (url in listOf(
      "http://pay.example.com/messages", "https://evil.test/messages", "https://pay.example.com.evil.test/messages",
      "https://user@pay.example.com/messages", "https://pay.example.com:8443/messages", "otherapp://messages",
      "exampleapp:messages", "exampleapp:///messages", "exampleapp://user@messages", "exampleapp://messages:1",
      "exampleapp://a//b", "exampleapp://a/..", "exampleapp://a/%2E%2e/b", "exampleapp://a/%00", "exampleapp://a/%E9",
      "exampleapp://a/%zz", "exampleapp://a/%4", "exampleapp://a?x=%1F", "messages/1", "", "://", "exampleapp://")) {
      assertNull(url, path(url))
    }
  }

  @Test fun dl20_aPrintedLinkIsReadAsTheSame() {
    for (text in listOf("1", "a/b", "?#%&=", "é \uD83D\uDE00", "a+b", "x.y~z", "..a")) {
      val path = LinkPath(listOf("orders", text), mapOf(text to text, "empty" to ""))
      assertEquals(path, path(path.url("exampleapp")!!))
      assertEquals(path, path(path.appLink("pay.example.com")!!))
    }
    assertNull(LinkPath("Orders").url("exampleapp"))
    assertNull(LinkPath("a/b").url("exampleapp"))
    assertNull(LinkPath("orders", "").url("exampleapp"))
    assertNull(LinkPath("orders", "..").appLink("pay.example.com"))
    assertNull(LinkPath("orders").url("https"))
    assertNull(LinkPath("orders").url("1x"))
    assertNull(LinkPath("orders").appLink("a/b"))
    assertNull(LinkPath(listOf()).url("exampleapp"))
    assertEquals("https://pay.example.com/", LinkPath(listOf()).appLink("pay.example.com"))
  }

  @Test fun dl21_refusesLongAndBrokenTexts() {
    assertNotNull(path("exampleapp://a/" + "x".repeat(1024)))
    assertNull(path("exampleapp://a/" + "x".repeat(1025)))
    assertNull(path("exampleapp://a/" + "é".repeat(513)))
    assertNull(path("exampleapp://a/\uD800"))
    assertNull(path("exampleapp://a?x=\uDC00"))
  }

  @Test fun pl01pl24_readsTheLinksOfAllKits() {
    for (row in KitTables.rows("links", "links")) {
      val url = row["url"] as String
      val plan = WebCheckoutLink.read(url, schemes)
      val back = CheckoutReturn.read(url, hosts, schemes)
      val claim = ClaimLink.read(url, hosts, schemes)
      assertEquals(url, row["plan"], plan?.planId)
      assertEquals(url, row["return"], back?.path?.query)
      assertEquals(url, row["claim"], claim?.token)
      if ("fault" in row) assertEquals(url, row["fault"], KitTables.name(WebCheckoutLink.fault(url, schemes)))
      // A printed link is read as the same.
      if (plan != null) assertEquals(plan, WebCheckoutLink.read(plan.url("exampleapp")!!, schemes))
      if (back != null) assertEquals(back, CheckoutReturn.read(back.path.appLink("pay.example.com")!!, hosts))
      if (claim != null) assertEquals(claim, ClaimLink.read(claim.path.appLink("pay.example.com")!!, hosts))
    }
    assertNull("without schemes", CheckoutReturn.read("exampleapp://pay.example.com/v1/shop/return", hosts))
    assertNull(CheckoutReturn.read("https://pay.example.com/v1/shop/return?orderToken=" + "a".repeat(256), hosts))
    assertNull(WebCheckoutLink.of("price_1")!!.url("no scheme"))
    assertNull(WebCheckoutLink.of(""))
    assertNull(WebCheckoutLink.of("x".repeat(256)))
  }

  @Test fun sh16_classifiesLinksThatLeave() {
    for (row in KitTables.rows("links", "leaving")) {
      assertEquals(row["kind"], KitTables.name(ExternalLink.of(row["url"] as String)))
    }
    for (url in listOf("", "1a:b", "a b:c")) assertEquals(url, ExternalLink.REFUSED, ExternalLink.of(url))
  }

  private fun router(lifetime: Double? = null, clock: CheckoutClock = SystemClock, allows: (String) -> Boolean = { true }) =
    LinkRouter(schemes, hosts, { it[1]?.takeIf { _ -> it[0] == "messages" } }, lifetime, clock, allows)

  @Test fun dl12to18_oneLinkWaits() {
    val router = router { it != "secret" }
    assertFalse(router.activate { throw AssertionError() })
    assertTrue(router.receive("exampleapp://messages/1") is LinkDecision.Route)
    assertTrue(router.receive("https://pay.example.com/messages/2") is LinkDecision.Route)
    // An invalid one takes nothing away.
    assertTrue(router.receive("exampleapp://unknown") is LinkDecision.Refused)
    assertTrue(router.receive("exampleapp://messages/secret") is LinkDecision.Refused)
    assertEquals("https://x.test/", (router.receive("https://x.test/") as LinkDecision.OpenInBrowser).url)
    val handled = ArrayList<String>()
    assertTrue(router.activate { route ->
      handled.add(route)
      router.receive("exampleapp://messages/3")
    })
    assertEquals(listOf("2"), handled)
    assertTrue(router.activate { handled.add(it) })
    assertFalse(router.activate { handled.add(it) })
    assertEquals(listOf("2", "3"), handled)
  }

  @Test fun aPageOfTheAppsOwnHostsOpensOnce() {
    val clock = FakeClock()
    val router = router(clock = clock)
    for (url in listOf("https://pay.example.com/v1/android/return?context_id=x", "https://PAY.example.com:443/x")) {
      assertTrue(url, (router.receive(url) as LinkDecision.OpenInBrowser).isOwn)
      // The browser has given it back, or another page of the host in its place.
      assertTrue(url, router.receive(url) is LinkDecision.Refused)
      clock.advance(10.0)
      assertTrue(url, router.receive("https://pay.example.com/y") is LinkDecision.Refused)
      assertFalse((router.receive("https://x.test/") as LinkDecision.OpenInBrowser).isOwn)
      clock.advance(0.5)
    }
    // Readers understand these differently.
    for (url in listOf(
      "http://pay.example.com/", "https://pay.example.com/a\\b",
      "https://pay.example.com:8443/messages/1", "https://user@pay.example.com/", "https://pay%2Eexample.com/",
      "https://pay.example.com\\@x.test/", "https://x.test\\/", "https:/x", "https://%zz/")) {
      assertTrue(url, router().receive(url) is LinkDecision.Refused)
    }
    for (url in listOf("https://x.test/?pay.example.com", "http://pay.example.com.x.test/", "https://x.test:443")) {
      assertTrue(url, router().receive(url) is LinkDecision.OpenInBrowser)
    }
  }

  @Test fun dl19_aHundredAtOnce() {
    val router = router()
    val handled = Collections.synchronizedList(ArrayList<String>())
    (1..100).map { number -> thread { router.receive("exampleapp://messages/$number") } }.forEach { it.join() }
    (1..100).map { thread { router.activate { handled.add(it) } } }.forEach { it.join() }
    assertEquals(1, handled.size)
  }

  @Test fun dl22_aLinkMayExpire() {
    val clock = FakeClock()
    val router = router(10.0, clock)
    router.receive("exampleapp://messages/1")
    clock.advance(10.0)
    assertEquals("1", router.popPending())
    router.receive("exampleapp://messages/1")
    clock.advance(10.5)
    assertNull(router.popPending())
  }
}
