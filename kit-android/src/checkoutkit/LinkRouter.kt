// One pending link for everything that can open the app. Thread-safe: a lock guards the state, and no function of
// the app is called while it is held.

package checkoutkit

/** What to do with a received link. */
sealed class LinkDecision<out R> {
  /** The link leads to a place in the app, which waits for [LinkRouter.activate]. */
  class Route<out R>(val route: R) : LinkDecision<R>()

  /**
   * A web page that is not a place of the app: open it in the browser.
   *
   * @property isOwn whether it is of one of the app's own hosts. Android would open the app with it again, so name
   *   the browser's package in the intent, and open nothing without one.
   */
  class OpenInBrowser(val url: String, val isOwn: Boolean) : LinkDecision<Nothing>()

  /**
   * The link is neither, or the router's `allows` refused it. So is a page of the app's own hosts that arrives within
   * ten seconds after another one was opened in the browser: the browser has probably given it back.
   */
  object Refused : LinkDecision<Nothing>()
}

/**
 * Receives the URLs that open the app, and keeps the last valid one until the app is in front.
 *
 * The router does not navigate when a link arrives, because the app may not have a screen yet. Pass every URL to
 * [receive] (`onCreate`, `onNewIntent`), and call [activate] in `onResume` and after a link arrives while the app
 * is in front.
 *
 * - The latest valid link wins. An invalid one leaves the pending one unchanged.
 * - The pending link is cleared before it is handled, so it is handled once. A link that arrives meanwhile waits
 *   for the next activation.
 * - Schemes and hosts are case-insensitive; other schemes and hosts are refused.
 *
 * @param R the app's type for its places.
 * @param schemes the app's custom schemes; `http` and `https` are ignored.
 * @param hosts the hosts of the app's App Links.
 * @param read reads a path; null for one that is not a place of the app.
 * @param lifetimeSeconds seconds after which a pending link is dropped; null keeps it.
 * @param clock measures the lifetime.
 * @param allows whether a place may be opened, called when its link arrives.
 */
class LinkRouter<R : Any> @JvmOverloads constructor(
  schemes: Set<String>,
  hosts: Set<String>,
  private val read: (LinkPath) -> R?,
  private val lifetimeSeconds: Double? = null,
  private val clock: CheckoutClock = SystemClock,
  private val allows: (R) -> Boolean = { true }
) {
  private class Pending<R>(val route: R, val since: Double)

  private val reader = LinkReader(schemes, hosts)
  private val lock = Any()
  private var pending: Pending<R>? = null
  /** When a page of the app's own hosts was opened last, on the monotonic clock. */
  private var ownPageSeconds: Double? = null

  /** The place that a URL leads to; null when it does not belong to the app. The pending place stays. */
  fun route(url: String): R? = reader.path(url)?.let { read(it) }

  /** Receives a URL that opened the app, and decides what to do with it. */
  fun receive(url: String): LinkDecision<R> {
    val route = route(url)
    if (route != null) return if (offer(route)) LinkDecision.Route(route) else LinkDecision.Refused
    if (ExternalLink.of(url) != ExternalLink.BROWSER) return LinkDecision.Refused
    if (!reader.mayBeOwn(url)) return LinkDecision.OpenInBrowser(url, false)
    return if (reader.isOwnPage(url) && opensOwnPage()) LinkDecision.OpenInBrowser(url, true) else LinkDecision.Refused
  }

  private fun opensOwnPage(): Boolean {
    val now = clock.seconds
    return synchronized(lock) {
      val last = ownPageSeconds
      val isFirst = last == null || now - last > LOOP_SECONDS
      if (isFirst) ownPageSeconds = now
      isFirst
    }
  }

  /** Makes a place the pending one; false when it is not allowed, and the pending place is then unchanged. */
  fun offer(route: R): Boolean {
    if (!allows(route)) return false
    val next = Pending(route, clock.seconds)
    synchronized(lock) { pending = next }
    return true
  }

  /** Passes the pending place to the app, at most once, on this thread. Returns whether a place was pending. */
  fun activate(handler: (R) -> Unit): Boolean {
    val route = popPending() ?: return false
    handler(route)
    return true
  }

  /** Removes and returns the pending place. */
  fun popPending(): R? {
    val taken = synchronized(lock) {
      val taken = pending
      pending = null
      taken
    }
    return taken?.takeIf { isFresh(it) }?.route
  }

  private fun isFresh(pending: Pending<R>): Boolean =
    lifetimeSeconds == null || clock.seconds - pending.since <= lifetimeSeconds

  private companion object {
    const val LOOP_SECONDS = 10.0
  }
}
