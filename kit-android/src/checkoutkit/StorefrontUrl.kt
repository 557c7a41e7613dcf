// Pages of a Shopify storefront, by the rules of CheckoutKit for iOS. Pure; thread-safe.

package checkoutkit

/** Where to open a page of a storefront. */
enum class StorefrontRoute {
  /** The checkout sheet. */
  CHECKOUT,
  /** The app's own cart. */
  CART,
  /** The browser, or a web view. */
  BROWSER
}

/**
 * A page of a storefront by the rules of Shopify's guide "Handle offsite payments in your app".
 *
 * The rules match substrings anywhere in the path, on any host: `/products/cart-cover` is a cart,
 * `https://evil.test/checkout` a checkout. This type exists for compatibility with the guide; prefer
 * [StrictStorefrontUrl].
 *
 * @property url the URL, unchanged.
 */
data class StorefrontUrl(val url: String) {
  private val parts get() = UrlParts(url)
  private val path: String get() = LinkText.unescaped(parts.path) ?: parts.path

  /** Whether the path contains `/checkout`; also true on the page after the purchase. */
  val isCheckout: Boolean get() = "/checkout" in path

  /** Whether the path contains `/cart`. */
  val isCart: Boolean get() = "/cart" in path

  /** Whether the path contains `/thank-you` or `/thank_you`, in lower case. */
  val isThankYouPage: Boolean get() = "/thank-you" in path || "/thank_you" in path

  /** The guide's choice: the checkout until the purchase is complete, the cart, otherwise the browser. */
  val route: StorefrontRoute
    get() = when {
      isCheckout && !isThankYouPage -> StorefrontRoute.CHECKOUT
      isCart -> StorefrontRoute.CART
      else -> StorefrontRoute.BROWSER
    }

  /** Whether a whole segment of the path is `thank-you` or `thank_you`, in any case: the page after the purchase. */
  val isConfirmationPage: Boolean
    get() = parts.path.split('/').any { part ->
      LinkText.unescaped(part)?.let { LinkText.lowercased(it) } in setOf("thank-you", "thank_you")
    }

  /** The order, from `order_id` of the page after the purchase; null on other pages and without `order_id`. */
  val orderId: String?
    get() {
      if (!isConfirmationPage) return null
      val value = parts.fields.firstOrNull { LinkText.unescaped(it.name) == "order_id" }?.value ?: return null
      return LinkText.unescaped(value)?.takeIf { LinkText.isIdentifier(it) }
    }
}

/**
 * A page of one of the app's own storefronts: https, one of the given hosts, and a path of whole segments. A first
 * segment that is a locale (`en`, `en-CA`, `zh-Hant`) is ignored. `checkout`, `checkouts` and a shop's number with
 * `checkouts` are a checkout, except the callback of a wallet (`…/express/callback`); `cart` is a cart; the page after
 * the purchase and every other page are for the browser.
 *
 * @property url the URL, unchanged.
 * @property route where to open it.
 * @property isConfirmationPage whether it is the page after the purchase.
 */
class StrictStorefrontUrl private constructor(
  val url: String, val route: StorefrontRoute, val isConfirmationPage: Boolean
) {
  /** The order, from `order_id` of the page after the purchase; null on other pages and without `order_id`. */
  val orderId: String? get() = StorefrontUrl(url).orderId

  companion object {
    /**
     * Classifies a URL.
     *
     * @param hosts the storefront's hosts: `example.com`, `example.myshopify.com`.
     * @return null for a URL of another host, and for a path that readers understand differently.
     */
    @JvmStatic fun of(url: String, hosts: Set<String>): StrictStorefrontUrl? {
      val parts = UrlParts(url)
      if (parts.comparableScheme != "https" || !parts.isAt(LinkText.lowercased(hosts))) return null
      val all = parts.segments ?: return null
      val isConfirmation = StorefrontUrl(url).isConfirmationPage
      val segments = if (all.isNotEmpty() && isLocale(all[0])) all.drop(1) else all
      val route = if (isConfirmation) StorefrontRoute.BROWSER else route(segments)
      return StrictStorefrontUrl(url, route, isConfirmation)
    }

    private fun route(segments: List<String>): StorefrontRoute {
      val first = segments.firstOrNull() ?: return StorefrontRoute.BROWSER
      val isShop = first.all { LinkText.isDigit(it) } && segments.getOrNull(1) == "checkouts"
      if (isShop || first == "checkout" || first == "checkouts") {
        val isCallback = segments.takeLast(2) == listOf("express", "callback")
        return if (isCallback) StorefrontRoute.BROWSER else StorefrontRoute.CHECKOUT
      }
      return if (first == "cart") StorefrontRoute.CART else StorefrontRoute.BROWSER
    }

    /** Two or three letters, optionally with a region or a script after a hyphen. */
    private fun isLocale(segment: String): Boolean {
      val parts = segment.split('-')
      if (parts.size > 2 || !parts.all { part -> part.all { LinkText.isLetter(it) } }) return false
      return parts[0].length in 2..3 && (parts.size == 1 || parts[1].length in 2..4)
    }
  }
}
