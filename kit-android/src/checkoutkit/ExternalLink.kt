// What to do with a link that leads away from a checkout page. Pure; thread-safe.

package checkoutkit

/** The destination of a link that leaves the checkout. */
enum class ExternalLink {
  /** `tel:`: the phone. */
  PHONE,
  /** `mailto:`: the mail program. */
  EMAIL,
  /** `http:` and `https:`: the browser. */
  BROWSER,
  /** Any other scheme: the app that registered it, if any. */
  DEEP_LINK,
  /**
   * Do not open it: the scheme runs script, reads from the device, shows browser internals, starts any
   * component of any app, installs apps or belongs to another system, or there is no scheme.
   */
  REFUSED;

  companion object {
    private val refusedSchemes = setOf(
      // Code, and documents given as text.
      "javascript", "jscript", "livescript", "ecmascript", "mocha", "vbscript", "vbs", "data", "blob", "about",
      "view-source", "filesystem", "file", "jar", "mhtml", "wyciwyg", "srcdoc",
      // Reserved by browsers and their extensions.
      "chrome", "chrome-extension", "chrome-search", "moz-extension", "safari-extension",
      "safari-web-extension", "ms-browser-extension", "resource", "edge", "opera", "devtools",
      // Android's: a page chooses the component and its extras.
      "intent", "android-app", "android.resource", "content", "market",
      // Apple's; it has no meaning here.
      "itms-services")

    /** Classifies a URL by its scheme, in any case. */
    @JvmStatic fun of(url: String): ExternalLink {
      val scheme = UrlParts(url).comparableScheme
      return when {
        scheme == null -> REFUSED
        scheme == "tel" -> PHONE
        scheme == "mailto" -> EMAIL
        LinkReader.isWeb(scheme) -> BROWSER
        scheme in refusedSchemes || !LinkText.isScheme(scheme) -> REFUSED
        else -> DEEP_LINK
      }
    }
  }
}
