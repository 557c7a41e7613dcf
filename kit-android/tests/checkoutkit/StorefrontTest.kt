// Pages of a storefront: the cases of CheckoutKit for iOS (StorefrontTests).

package checkoutkit

import checkoutkit.StorefrontRoute.BROWSER
import checkoutkit.StorefrontRoute.CART
import checkoutkit.StorefrontRoute.CHECKOUT
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Test

class StorefrontTest {
  @Test fun sh13_theGuidesRuleLooksForPartsOfWords() {
    for ((path, route) in listOf(
      "/cart" to CART, "/cart/c/xyz?key=2" to CART, "/products/cart-bag" to CART, "/c%61rt" to CART,
      "/checkout" to CHECKOUT, "/en-ca/checkouts/cn/x/information" to CHECKOUT, "/news/checkout-tricks" to CHECKOUT,
      "/checkouts/cn/x/thank-you" to BROWSER, "/checkouts/cn/x/thank_you/" to BROWSER,
      "/checkouts/cn/x/Thank-You" to CHECKOUT, "/checkouts/cn/x/thank-you-all" to BROWSER,
      "/cart/thank_you/checkout" to CART, "/?next=/cart" to BROWSER, "/Checkout" to BROWSER, "" to BROWSER,
      "/my-cart" to BROWSER)) {
      assertEquals(path, route, StorefrontUrl("https://shop.example$path").route)
    }
    assertEquals(CHECKOUT, StorefrontUrl("https://evil.example/checkout").route)
    assertEquals(true, StorefrontUrl("https://shop.example/checkouts/cn/x/Thank-You").isConfirmationPage)
    assertEquals(false, StorefrontUrl("https://shop.example/checkouts/cn/x/thank-you-all").isConfirmationPage)
  }

  @Test fun sh14_theStrictRuleLooksAtWholeSegments() {
    for ((path, route) in listOf(
      "/cart" to CART, "/cart/" to CART, "/cart/c/xyz?key=2" to CART, "/fr/cart" to CART, "/en-CA/cart" to CART,
      "/checkout" to CHECKOUT, "/checkouts/cn/a/information" to CHECKOUT, "/de/checkouts/cn/a" to CHECKOUT,
      "/zh-Hant/checkout" to CHECKOUT, "/12345/checkouts/a" to CHECKOUT, "/checkouts/c/a/post_purchase" to CHECKOUT,
      "/checkouts/cn/a/Thank-You" to BROWSER, "/checkouts/cn/a/thank_you" to BROWSER,
      "/12345/checkouts/a/express/callback" to BROWSER, "/checkouts/a/express/callback" to BROWSER,
      "/checkouts/cn/a/thank-you-page" to CHECKOUT, "/products/cart-cover" to BROWSER, "/products/cart" to BROWSER,
      "/blogs/news/checkout-tips" to BROWSER, "/admin/checkout" to BROWSER, "/12345/checkout" to BROWSER,
      "/checkout-tips" to BROWSER, "/cartoons" to BROWSER, "/a%2Fcheckout" to BROWSER, "/checkout%2Fa" to BROWSER,
      "/CART" to BROWSER, "/pages/de/cart" to BROWSER, "/de/fr/cart" to BROWSER, "/?next=/cart" to BROWSER,
      "" to BROWSER, "/" to BROWSER, "//checkout" to null, "/products/../checkout" to null, "/checkout/%00" to null)) {
      assertEquals(path, route, StrictStorefrontUrl.of("https://shop.example$path", setOf("Shop.Example"))?.route)
    }
  }

  @Test fun sh14_aPageOfAnotherHostIsRefused() {
    for (url in listOf(
      "https://evil.test/checkout", "http://shop.example/checkout", "https://shop.example.evil.test/checkout",
      "https://shop.example@evil.test/checkout", "https://me@shop.example/checkout",
      "https://shop.example:8443/checkout", "shop.example/checkout", "javascript://shop.example/checkout")) {
      assertNull(url, StrictStorefrontUrl.of(url, setOf("shop.example")))
    }
  }

  @Test fun sh18_theOrderIsReadFromThePageAfterThePurchase() {
    for ((path, order) in listOf(
      "/checkouts/c/1/thank_you/completed?order_id=9876" to "9876", "/thank-you?a=b&order_id=1&order_id=2" to "1",
      "/thank-you?order_id=a%2Fb" to "a/b", "/thank-you" to null, "/thank-you?order_id=" to null,
      "/thank-you?order_id" to null, "/thank-you?order_id=%0A" to null, "/checkout?order_id=1" to null)) {
      assertEquals(path, order, StorefrontUrl("https://shop.example$path").orderId)
      assertEquals(path, order, StrictStorefrontUrl.of("https://shop.example$path", setOf("shop.example"))?.orderId)
    }
  }
}
