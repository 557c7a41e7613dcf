// The link by which a paywall requests a web checkout. Pure; thread-safe.

package checkoutkit

/**
 * `myappscheme://web_checkout/?plan_id=…`: the customer chose a plan on a Purchasely paywall, and wants to buy
 * it in the browser.
 *
 * The parser is strict: the scheme is one of the app's, the host exactly `web_checkout`, with no user, port or
 * path. The first `plan_id` counts. The name is case-sensitive; the value is decoded (`+` is a plus) and has 1
 * to 255 bytes without control characters.
 *
 * @property planId the paywall's plan: usually the id of a Stripe price.
 */
class WebCheckoutLink private constructor(val planId: String) {
  /** Why a URL is not a link to a web checkout. */
  enum class Fault {
    /** Its scheme is not the app's. */
    FOREIGN_SCHEME,
    /** It leads elsewhere: another host, or a host with a user, a port or a path. */
    OTHER_PLACE,
    /** It has no `plan_id`, or an empty one. */
    MISSING_PLAN,
    /** Its `plan_id` cannot be decoded, is too long or contains control characters. */
    UNUSABLE_PLAN
  }

  /** Formats the link, such as for a paywall's button; null when [scheme] is not a valid scheme. */
  fun url(scheme: String): String? =
    if (LinkText.isScheme(scheme)) "$scheme://$HOST/?$FIELD=${LinkText.escaped(planId)}" else null

  override fun equals(other: Any?): Boolean = other is WebCheckoutLink && other.planId == planId

  override fun hashCode(): Int = planId.hashCode()

  companion object {
    private const val HOST = "web_checkout"
    private const val FIELD = "plan_id"
    /** The relay's limit for a price. */
    private const val PLAN_BYTES_MAX = 255

    /** Creates a link, to format it; null for a plan id that is not valid in a link. */
    @JvmStatic fun of(planId: String): WebCheckoutLink? =
      if (LinkText.isIdentifier(planId, PLAN_BYTES_MAX)) WebCheckoutLink(planId) else null

    /**
     * Reads a URL; null when it is not a link to a web checkout.
     *
     * @param url the URL that opened the app, `intent.dataString`.
     * @param schemes the app's custom schemes, in any case; `http` and `https` are ignored.
     */
    @JvmStatic fun read(url: String, schemes: Set<String>): WebCheckoutLink? {
      val parts = UrlParts(url)
      return if (faultBeforePlan(parts, schemes) == null) plan(parts)?.let { of(it) } else null
    }

    /** Why a URL is not a link to a web checkout; null when it is one. */
    @JvmStatic fun fault(url: String, schemes: Set<String>): Fault? {
      val parts = UrlParts(url)
      val fault = faultBeforePlan(parts, schemes)
      if (fault != null) return fault
      val field = field(parts)
      if (field == null || field == "") return Fault.MISSING_PLAN
      return if (plan(parts)?.let { of(it) } == null) Fault.UNUSABLE_PLAN else null
    }

    private fun faultBeforePlan(parts: UrlParts, schemes: Set<String>): Fault? {
      val scheme = parts.comparableScheme
      if (scheme == null || scheme !in LinkReader(schemes, emptySet()).schemes) return Fault.FOREIGN_SCHEME
      val isHere = parts.bareHost == HOST && (parts.path == "" || parts.path == "/")
      return if (isHere) null else Fault.OTHER_PLACE
    }

    private fun field(parts: UrlParts): String? =
      parts.fields.firstOrNull { LinkText.unescaped(it.name) == FIELD }?.value

    private fun plan(parts: UrlParts): String? = field(parts)?.let { LinkText.unescaped(it) }
  }
}
