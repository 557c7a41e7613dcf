// The path and the query of a link, for custom schemes and App Links. Pure; thread-safe.

package checkoutkit

/**
 * The part of a link that names a place in the app: `messages`, `1`.
 *
 * `exampleapp://messages/1` and `https://www.example.com/messages/1` are the same path. Under a custom scheme
 * the host is the first segment, in lower case, because hosts are case-insensitive; the rest keeps its case.
 * Segments are split before they are decoded, so an id may contain a slash.
 *
 * @property segments the parts between the slashes, decoded.
 * @property query the query, decoded. The first of several fields with one name counts; a field without `=`
 *   has an empty value.
 */
data class LinkPath @JvmOverloads constructor(
  val segments: List<String>,
  val query: Map<String, String> = emptyMap()
) {
  /** Creates a path without a query. */
  constructor(vararg segments: String) : this(segments.toList())

  /** The segment at an index; null past the last. */
  operator fun get(index: Int): String? = segments.getOrNull(index)

  /**
   * Formats the link under a custom scheme.
   *
   * @return null when no app can read it as this path: a web scheme, no segments, a first segment that is not
   *   a lower-case host, or a part that every reader refuses.
   */
  fun url(scheme: String): String? {
    val host = segments.firstOrNull() ?: return null
    if (!LinkText.isScheme(scheme) || LinkReader.isWeb(scheme) || !isPrintable) return null
    if (LinkText.escaped(host) != host || LinkText.lowercased(host) != host) return null
    return "$scheme://$host${text(segments.drop(1))}"
  }

  /**
   * Formats the App Link.
   *
   * @param host as in the manifest's intent filter.
   * @return null when no app can read it as this path.
   */
  fun appLink(host: String): String? {
    if (!isPrintable || host == "" || host.any { it in "/?#@%" || it <= ' ' }) return null
    return "https://$host${text(segments)}"
  }

  private val isPrintable: Boolean
    get() = segments.all { isSegment(it) } && query.all { isText(it.key) && isText(it.value) }

  private fun text(segments: List<String>): String {
    val path = if (segments.isEmpty()) "/" else segments.joinToString("") { "/" + LinkText.escaped(it) }
    if (query.isEmpty()) return path
    val names = query.keys.sorted()
    return path + "?" + names.joinToString("&") { name ->
      LinkText.escaped(name) + "=" + LinkText.escaped(query[name] ?: "")
    }
  }

  internal companion object {
    /**
     * Reads the path of a link; null for a custom scheme's host with user information or a port, an empty
     * segment (except one slash at the end), `.` or `..`, or a part that contains control characters, exceeds
     * 1024 bytes or cannot be decoded.
     */
    fun read(parts: UrlParts, isHostFirst: Boolean): LinkPath? {
      var segments = parts.segments ?: return null
      if (isHostFirst) {
        val host = parts.bareHost?.let { LinkText.lowercased(it) } ?: return null
        if (!isSegment(host)) return null
        segments = listOf(host) + segments
      }
      val query = LinkedHashMap<String, String>()
      for (field in parts.fields) {
        if (field.name == "" && field.value == null) continue
        val name = LinkText.unescaped(field.name) ?: return null
        val value = LinkText.unescaped(field.value ?: "") ?: return null
        if (!isText(name) || !isText(value)) return null
        if (name !in query) query[name] = value
      }
      return LinkPath(segments, query)
    }

    /** Browsers remove dot segments, escaped or not, with the segment before `..` (WHATWG URL §4.4). */
    fun isSegment(text: String): Boolean = LinkText.isIdentifier(text) && text != "." && text != ".."

    private fun isText(text: String): Boolean = text == "" || LinkText.isIdentifier(text)
  }
}

/** Decides which links belong to the app, and reads their path. */
internal class LinkReader(schemes: Set<String>, hosts: Set<String>) {
  /** In lower case. With a web scheme, every web page could name places in the app. */
  val schemes: Set<String> = LinkText.lowercased(schemes).filter { !isWeb(it) }.toSet()
  val hosts: Set<String> = LinkText.lowercased(hosts)

  /** Null for a URL that does not belong to the app. */
  fun path(url: String): LinkPath? {
    val parts = UrlParts(url)
    val scheme = parts.comparableScheme ?: return null
    if (scheme == "https") return if (parts.isAt(hosts)) LinkPath.read(parts, false) else null
    if (scheme !in schemes) return null
    // The web address under the custom scheme: the host is the web server's, not a segment.
    return LinkPath.read(parts, !parts.isAt(hosts))
  }

  /** Whether a URL is a page of one of the app's hosts, written so that every reader agrees. */
  fun isOwnPage(url: String): Boolean {
    val parts = UrlParts(url)
    return parts.comparableScheme == "https" && parts.isAt(hosts) && '\\' !in url
  }

  /** Whether Android may find that a URL is of one of the app's hosts. */
  fun mayBeOwn(url: String): Boolean {
    val host = UrlParts(url).looseHost ?: return true
    return hosts.any { it.substringBefore(':') == host }
  }

  companion object {
    /** Whether a scheme, in any case, belongs to the browser. */
    fun isWeb(scheme: String): Boolean = LinkText.lowercased(scheme) in setOf("http", "https")
  }
}
