// When a request is retried. Pure except for its jitter; thread-safe.

package checkoutkit

import kotlin.random.Random

/**
 * How long the kit retries when the network fails or the relay is busy.
 *
 * Pauses double from the first to the longest. A request is given up when its attempts or its patience are used
 * up, whichever comes first. `Retry-After` makes a pause longer, never shorter.
 *
 * @property attemptsMax the maximum number of attempts, including the first.
 * @property firstPauseSeconds seconds before the second attempt.
 * @property pauseMaxSeconds the longest pause that the kit chooses.
 * @property patienceSeconds seconds after which no further attempt begins.
 * @property jitter the random part of a pause, so that apps do not retry at the same time: 0.2 is ±20 %.
 */
data class RetryPolicy @JvmOverloads constructor(
  val attemptsMax: Int = 8,
  val firstPauseSeconds: Double = 0.5,
  val pauseMaxSeconds: Double = 15.0,
  val patienceSeconds: Double = 60.0,
  val jitter: Double = 0.2
) {
  /**
   * Seconds until the next attempt; null when there is none.
   *
   * @param attempt the number of attempts so far; 1 after the first.
   * @param elapsed seconds since the first attempt.
   * @param retryAfter the server's `Retry-After`, in seconds.
   */
  internal fun pause(attempt: Int, elapsed: Double, retryAfter: Double?): Double? {
    if (attempt >= attemptsMax) return null
    // Limits the shift; 2^30 times the first pause exceeds any limit.
    val doubled = firstPauseSeconds * (1 shl (attempt - 1).coerceIn(0, 30)).toDouble()
    val spread = if (jitter > 0) Random.nextDouble(-jitter, jitter) else 0.0
    val chosen = maxOf(0.0, minOf(doubled, pauseMaxSeconds) * (1 + spread))
    val pause = maxOf(chosen, retryAfter ?: 0.0)
    return if (elapsed + pause <= patienceSeconds) pause else null
  }

  companion object {
    /** One attempt. */
    @JvmField val NONE = RetryPolicy(attemptsMax = 1)
  }
}
