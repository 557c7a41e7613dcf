// The link by which a purchase without a user finds its account, and what becomes of a claim. Pure; thread-safe.

package checkoutkit

/**
 * The relay's claim link: `https://HOST/v1/{app}/claim/clm_…`, or the same under the app's custom scheme:
 * `exampleapp://HOST/v1/{app}/claim/clm_…`.
 *
 * The merchant gives it to a customer whose purchase names no user. Its token is a secret: do not show or log it.
 * Opening the link claims nothing. Keep it until the customer has signed in ([Checkouts.keepClaim]), ask whether to add
 * the purchase to the account, and then call [Checkouts.claim].
 *
 * @property app the app's name at the relay.
 * @property token `clm_…`: anyone who has it can claim the purchase.
 */
class ClaimLink private constructor(val app: String, val token: String) {
  /** The path of the link. */
  val path: LinkPath get() = LinkPath("v1", app, "claim", token)

  override fun equals(other: Any?): Boolean = other is ClaimLink && other.app == app && other.token == token

  override fun hashCode(): Int = token.hashCode()

  /** Without the token. */
  override fun toString(): String = "ClaimLink($app)"

  companion object {
    private const val PREFIX = "clm_"

    /** Reads a link's path; null for another path, and for a token that the relay cannot have issued. */
    @JvmStatic fun read(path: LinkPath): ClaimLink? {
      if (path.segments.size != 4 || path[0] != "v1" || path[2] != "claim") return null
      return of(path[1] ?: return null, path[3] ?: return null)
    }

    /**
     * Reads a URL.
     *
     * @param url the URL that opened the app, `intent.dataString`.
     * @param hosts the relay's hosts; other hosts are refused under every scheme.
     * @param schemes the app's custom schemes, in any case.
     */
    @JvmStatic @JvmOverloads
    fun read(url: String, hosts: Set<String>, schemes: Set<String> = emptySet()): ClaimLink? {
      if (!UrlParts(url).isAt(LinkText.lowercased(hosts))) return null
      return LinkReader(schemes, hosts).path(url)?.let { read(it) }
    }

    internal fun of(app: String, token: String): ClaimLink? =
      if (CheckoutReturn.isApp(app) && ContextId.isCrockford(token, PREFIX)) ClaimLink(app, token) else null
  }
}

/** What became of a claim. */
enum class ClaimResult {
  /** The purchase is this user's now, and is passed on. */
  CLAIMED,
  /** This user had claimed it before. */
  REPLAY,
  /** Another user has claimed it, or it belongs to one. */
  OTHER_USER,
  /** The link has expired or was revoked, or the purchase ended: only the merchant's support can help. */
  EXPIRED,
  /** The relay has never made this link. */
  UNKNOWN,
  /** There is no network, or the relay is busy: keep the link, and try again later. */
  RETRY_LATER;

  /** Whether the link is of no more use. */
  val isFinal: Boolean get() = this != RETRY_LATER

  internal companion object {
    /** Null for an answer that is not the relay's, such as a captive portal's page. */
    fun read(body: ByteArray): ClaimResult? {
      val members = Json.readObject(body) ?: return null
      if (members["status_url"] !is String) return null
      return if (members["replay"] == true) REPLAY else CLAIMED
    }

    /** Null if the relay did not decide. */
    fun read(failure: RelayException): ClaimResult? {
      if (failure.isTransient) return RETRY_LATER
      val problem = (failure as? RelayException.Http)?.failure?.takeIf { it.isOfRelay }?.problem?.type
      val name = problem?.removePrefix(HttpFailure.PROBLEM)
      return when {
        failure.status == 409 && name == "claimed-by-another-user" -> OTHER_USER
        failure.status == 410 && name != null -> EXPIRED
        failure.status == 404 && name == "unknown-claim" -> UNKNOWN
        else -> null
      }
    }
  }
}
