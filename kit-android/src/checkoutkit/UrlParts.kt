// The parts of a URL as written, not decoded (RFC 3986 appendix B). Platform classes decode and repair URLs
// differently from release to release; rules about links must not. Pure; thread-safe.

package checkoutkit

internal class UrlParts(text: String) {
  /** A field of the query as written; the value is null without `=`. */
  class Field(val name: String, val value: String?)

  /** As written; null when there is none. */
  val scheme: String?
  /** The part between `//` and the path; null without `//`. */
  val authority: String?
  val path: String
  val query: String?
  val fragment: String?

  init {
    var rest = text
    fun consume(ends: String): String {
      val end = rest.indexOfFirst { it in ends }
      val part = if (end < 0) rest else rest.substring(0, end)
      rest = rest.substring(part.length)
      return part
    }
    val colon = rest.indexOfFirst { it in ":/?#" }
    if (colon >= 0 && rest[colon] == ':') {
      scheme = consume(":")
      rest = rest.substring(1)
    } else {
      scheme = null
    }
    if (rest.startsWith("//")) {
      rest = rest.substring(2)
      authority = consume("/?#")
    } else {
      authority = null
    }
    path = consume("?#")
    if (rest.startsWith("?")) {
      rest = rest.substring(1)
      query = consume("#")
    } else {
      query = null
    }
    fragment = if (rest.startsWith("#")) rest.substring(1) else null
  }

  /** In lower case. */
  val comparableScheme: String? get() = scheme?.let { LinkText.lowercased(it) }

  /** The host alone, decoded, with its case; null when there is no host, or when there is a user or a port. */
  val bareHost: String?
    get() {
      val authority = authority ?: return null
      if (authority == "" || authority.any { it == '@' || it == ':' }) return null
      return LinkText.unescaped(authority)
    }

  /**
   * The host as other readers may understand it, who decode it and ignore a user and a port: in lower case; null
   * when there is none, or when readers differ about where it ends.
   */
  val looseHost: String?
    get() {
      val authority = authority ?: return null
      if ('\\' in authority) return null
      return LinkText.unescaped(authority.substringAfterLast('@').substringBefore(':'))?.let { LinkText.lowercased(it) }
    }

  /**
   * Whether the authority is one of these, in lower case: `pay.example.com`, or with a port. https may omit
   * its port.
   */
  fun isAt(hosts: Set<String>): Boolean {
    val authority = authority ?: return false
    if (authority == "") return false
    val place = LinkText.lowercased(authority)
    if (place in hosts) return true
    return comparableScheme == "https" && place.endsWith(":443") && place.removeSuffix(":443") in hosts
  }

  /**
   * The parts between the slashes of the path. It is split before it is decoded, so `a%2Fb` stays one
   * segment. One slash at the end is ignored. It is null when a part is empty, `.` or `..`, too long, contains
   * control characters or cannot be decoded.
   */
  val segments: List<String>?
    get() {
      var parts = path.split('/')
      if (parts.size > 1 && parts.first() == "") parts = parts.drop(1)
      if (parts.last() == "") parts = parts.dropLast(1)
      val segments = ArrayList<String>()
      for (part in parts) {
        val segment = LinkText.unescaped(part) ?: return null
        if (!LinkPath.isSegment(segment)) return null
        segments.add(segment)
      }
      return segments
    }

  /** The query's fields in order, not decoded. */
  val fields: List<Field>
    get() {
      val query = query
      if (query == null || query == "") return emptyList()
      return query.split('&').map { text ->
        val equals = text.indexOf('=')
        if (equals < 0) Field(text, null) else Field(text.substring(0, equals), text.substring(equals + 1))
      }
    }
}
