// Pages of a storefront, by the tables of all kits (SH13, SH14 and SH18 of docs/link-checks.md).

package checkoutkit

import org.junit.Assert.assertEquals
import org.junit.Test

class StorefrontTest {
  private val hosts = setOf("Shop.Example")

  private fun check(table: String, body: (String, Map<String, Any?>) -> Unit) =
    KitTables.rows("links", table).forEach { body(it["url"] as String, it) }

  @Test fun sh13_theGuidesRuleLooksForPartsOfWords() = check("guide") { url, row ->
    assertEquals(url, row["route"], KitTables.name(StorefrontUrl(url).route))
    assertEquals(url, row["isConfirmation"] == true, StorefrontUrl(url).isConfirmationPage)
  }

  @Test fun sh14_theStrictRuleLooksAtWholeSegmentsOnTheOwnHosts() = check("storefront") { url, row ->
    val page = StrictStorefrontUrl.of(url, hosts)
    assertEquals(url, row["route"], KitTables.name(page?.route))
    assertEquals(url, row["isConfirmation"] == true, page?.isConfirmationPage == true)
  }

  @Test fun sh18_theOrderIsReadFromThePageAfterThePurchase() = check("orders") { url, row ->
    assertEquals(url, row["order"], StorefrontUrl(url).orderId)
    assertEquals(url, row["order"], StrictStorefrontUrl.of(url, hosts)?.orderId)
  }
}
