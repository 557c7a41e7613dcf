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
  private val id = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"

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

  @Test fun readsTheWayBack() {
    val back = CheckoutReturn("android", id)
    assertEquals(back, CheckoutReturn.read("https://pay.example.com/v1/android/return?context_id=$id", hosts))
    assertEquals(back, CheckoutReturn.read(
      "ExampleApp://pay.example.com/v1/android/return/?context_id=$id&result=success", hosts, schemes))
    assertEquals(CheckoutReturn("android", null, "cs_1"),
      CheckoutReturn.read("https://pay.example.com/v1/android/return?session_id=cs_1", hosts))
    assertEquals(CheckoutReturn("android"), CheckoutReturn.read("https://pay.example.com/v1/android/return", hosts))
    val paid = CheckoutReturn("android", null, null, "005.2fkv5o963b132z8ppa34")
    assertEquals(paid, CheckoutReturn.read(
      "https://pay.example.com/v1/android/return?status=SUCCESS&orderToken=005.2fkv5o963b132z8ppa34", hosts))
    assertEquals(paid, CheckoutReturn.read(paid.path))
    assertEquals(CheckoutReturn("android", id, null, "t"),
      CheckoutReturn.read("https://pay.example.com/v1/android/return?context_id=$id&orderToken=t", hosts))
    for (wrong in listOf("", "..", "a%2Fb", "a%20b", "%C3%A9", "a".repeat(256))) {
      assertNull(wrong, CheckoutReturn.read("https://pay.example.com/v1/android/return?orderToken=$wrong", hosts))
    }
    assertEquals(back, CheckoutReturn.read(back.path))
    assertEquals(back, CheckoutReturn.read(back.path.appLink("pay.example.com")!!, hosts))
    for (url in listOf(
      "https://evil.test/v1/android/return?context_id=$id", "exampleapp://evil.test/v1/android/return?context_id=$id",
      "exampleapp://v1/android/return?context_id=$id", "http://pay.example.com/v1/android/return?context_id=$id",
      "https://pay.example.com/v1/android/return?context_id=", "https://pay.example.com/v1/android/return?context_id=ctx_1",
      "https://pay.example.com/v1/android/return?context_id=${id.toLowerCase()}",
      "https://pay.example.com/v1/android/return?session_id=", "https://pay.example.com/v1/Android/return",
      "https://pay.example.com/v1/-a/return", "https://pay.example.com/v1/android/return/x",
      "https://pay.example.com/v2/android/return", "https://pay.example.com/v1/android",
      "intent://pay.example.com/v1/android/return?context_id=$id#Intent;scheme=https;end")) {
      assertNull(url, CheckoutReturn.read(url, hosts, schemes))
    }
    assertNull(CheckoutReturn.read("exampleapp://pay.example.com/v1/android/return?context_id=$id", hosts))
  }

  @Test fun pl01_readsThePaywallsLink() {
    fun fault(url: String) = WebCheckoutLink.fault(url, schemes)
    assertEquals("price_1", WebCheckoutLink.read("exampleapp://web_checkout/?plan_id=price_1", schemes)!!.planId)
    assertEquals("a b+c", WebCheckoutLink.read("EXAMPLEAPP://web_checkout?x&plan_id=a%20b+c&plan_id=d", schemes)!!.planId)
    val link = WebCheckoutLink.of("price/é&=")!!
    assertEquals(link, WebCheckoutLink.read(link.url("exampleapp")!!, schemes))
    assertNull(link.url("no scheme"))
    assertNull(WebCheckoutLink.of(""))
    assertNull(WebCheckoutLink.of("x".repeat(256)))
    assertEquals(WebCheckoutLink.Fault.FOREIGN_SCHEME, fault("other://web_checkout/?plan_id=1"))
    assertEquals(WebCheckoutLink.Fault.FOREIGN_SCHEME, fault("https://web_checkout/?plan_id=1"))
    assertEquals(WebCheckoutLink.Fault.OTHER_PLACE, fault("exampleapp://WEB_CHECKOUT/?plan_id=1"))
    assertEquals(WebCheckoutLink.Fault.OTHER_PLACE, fault("exampleapp://web_checkout:1/?plan_id=1"))
    assertEquals(WebCheckoutLink.Fault.OTHER_PLACE, fault("exampleapp://web_checkout/x?plan_id=1"))
    assertEquals(WebCheckoutLink.Fault.MISSING_PLAN, fault("exampleapp://web_checkout/?plan_id="))
    assertEquals(WebCheckoutLink.Fault.MISSING_PLAN, fault("exampleapp://web_checkout/?plan_id&plan_id=1"))
    assertEquals(WebCheckoutLink.Fault.MISSING_PLAN, fault("exampleapp://web_checkout/?PLAN_ID=1"))
    assertEquals(WebCheckoutLink.Fault.UNUSABLE_PLAN, fault("exampleapp://web_checkout/?plan_id=%FF"))
    assertEquals(WebCheckoutLink.Fault.UNUSABLE_PLAN, fault("exampleapp://web_checkout/?plan_id=%0A"))
    assertNull(fault("exampleapp://web_checkout/?plan_id=1"))
    assertNull(WebCheckoutLink.read("exampleapp://web_checkout/?plan_id=%0A", schemes))
  }

  @Test fun sh16_classifiesLinksThatLeave() {
    assertEquals(ExternalLink.PHONE, ExternalLink.of("tel:+461"))
    assertEquals(ExternalLink.EMAIL, ExternalLink.of("MAILTO:a@b"))
    assertEquals(ExternalLink.BROWSER, ExternalLink.of("HTTPS://x.test"))
    assertEquals(ExternalLink.DEEP_LINK, ExternalLink.of("bankid:///?x"))
    for (url in listOf("intent://x#Intent;end", "javascript:alert(1)", "file:///x", "content://x", "/x", "", "1a:b", "a b:c")) {
      assertEquals(url, ExternalLink.REFUSED, ExternalLink.of(url))
    }
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
