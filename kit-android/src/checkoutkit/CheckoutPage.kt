// The checkout page that the app opens without the relay. Pure; thread-safe.

package checkoutkit

/** The address of a checkout page for one checkout. */
internal object CheckoutPage {
  private const val FIELD = "client_reference_id"

  /** Adds the id to the page's query; null for an address that is not a web page. */
  fun with(page: String, id: String): String? {
    val parts = UrlParts(page)
    if (parts.comparableScheme != "https" || parts.authority == null || parts.authority == "") return null
    val others = page.substringBefore('#').substringBefore('?')
    val fields = (parts.query ?: "").split('&').filter { it != "" && it.substringBefore('=') != FIELD }
    val fragment = parts.fragment?.let { "#$it" } ?: ""
    return others + "?" + (fields + "$FIELD=${LinkText.escaped(id)}").joinToString("&") + fragment
  }
}
