// The checkout page that the app opens without the relay. Pure; thread-safe.

package checkoutkit

/** The address of a checkout page for one checkout. */
internal object CheckoutPage {
  private const val FIELD = "client_reference_id"

  /** Adds the id to the page's query; null for an address that is not a web page, or has an id already. */
  fun with(page: String, id: String): String? {
    val parts = UrlParts(page)
    if (parts.comparableScheme != "https" || parts.authority == null || parts.authority == "") return null
    if (parts.fields.any { LinkText.unescaped(it.name) == FIELD }) return null
    val address = page.substringBefore('#')
    val separator = if ('?' !in address) "?" else if (address.last() in "?&") "" else "&"
    return "$address$separator$FIELD=${LinkText.escaped(id)}${page.drop(address.length)}"
  }
}
