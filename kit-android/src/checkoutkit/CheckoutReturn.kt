// The address on which the customer comes back from the checkout. Pure; thread-safe.

package checkoutkit

/**
 * The relay's return address: `https://HOST/v1/{app}/return?context_id=ctx_…`, or the same under the app's
 * custom scheme: `exampleapp://HOST/v1/{app}/return?context_id=ctx_…`.
 *
 * The address identifies the checkout; it does not prove how the checkout ended, because anyone can forge it.
 * Ask the relay: [RelayClient.finalStatus]. When the relay does not know yet which context a payment belongs
 * to, the address has the processor's session id, or no id. Afterpay adds the token of its checkout. Without an
 * id it means the checkout that the app began last.
 *
 * @property app the app's name at the relay.
 * @property contextId the context that was posted before the checkout; null when the address has none.
 * @property sessionId the processor's session, such as Stripe's `cs_…`; null when the address has none.
 * @property orderToken the token of a checkout with Afterpay, to capture it; null when the address has none.
 */
data class CheckoutReturn @JvmOverloads constructor(
  val app: String,
  val contextId: String? = null,
  val sessionId: String? = null,
  val orderToken: String? = null
) {
  /** The path and the query of the link. */
  val path: LinkPath
    get() {
      val query = LinkedHashMap<String, String>()
      contextId?.let { query[CONTEXT_FIELD] = it }
      sessionId?.let { query[SESSION_FIELD] = it }
      orderToken?.let { query[ORDER_FIELD] = it }
      return LinkPath(listOf("v1", app, "return"), query)
    }

  companion object {
    private const val CONTEXT_FIELD = "context_id"
    private const val SESSION_FIELD = "session_id"
    private const val ORDER_FIELD = "orderToken"

    /** Reads a link's path; null for another path, and for an id that the relay cannot have issued. */
    @JvmStatic fun read(path: LinkPath): CheckoutReturn? {
      val app = path[1] ?: return null
      if (path.segments.size != 3 || path[0] != "v1" || path[2] != "return" || !isApp(app)) return null
      val contextId = path.query[CONTEXT_FIELD]
      val sessionId = path.query[SESSION_FIELD]
      if (contextId != null && !ContextId.isWellFormed(contextId)) return null
      if (sessionId != null && !LinkText.isIdentifier(sessionId, 255)) return null
      val orderToken = path.query[ORDER_FIELD]
      if (orderToken != null && !isToken(orderToken)) return null
      return CheckoutReturn(app, contextId, sessionId, orderToken)
    }

    /** Visible ASCII without a slash, so that it is one segment of a path everywhere. */
    private fun isToken(text: String): Boolean =
      LinkPath.isSegment(text) && text.length <= 255 && text.all { it in '!'..'~' && it != '/' }

    /**
     * Reads a URL.
     *
     * @param url the URL that opened the app, `intent.dataString`.
     * @param hosts the relay's hosts; other hosts are refused under every scheme.
     * @param schemes the app's custom schemes, in any case.
     */
    @JvmStatic @JvmOverloads
    fun read(url: String, hosts: Set<String>, schemes: Set<String> = emptySet()): CheckoutReturn? {
      if (!UrlParts(url).isAt(LinkText.lowercased(hosts))) return null
      return LinkReader(schemes, hosts).path(url)?.let { read(it) }
    }

    /** `[a-z0-9][a-z0-9-]{0,62}`, as in the relay's configuration. */
    internal fun isApp(text: String): Boolean {
      fun isWord(character: Char) = character in 'a'..'z' || LinkText.isDigit(character)
      return text.length in 1..63 && isWord(text[0]) && text.all { isWord(it) || it == '-' }
    }
  }
}
