// The kit's source of time, replaceable so that tests need not wait. Thread-safe.

package checkoutkit

/** The kit's source of time. Tests supply their own; an app uses [SystemClock]. */
interface CheckoutClock {
  /** The wall clock, in milliseconds since 1970. */
  val wallMillis: Long

  /** Seconds of a monotonic clock: changes of the wall clock do not affect it. */
  val seconds: Double

  /**
   * Blocks the thread.
   *
   * @throws InterruptedException when the thread is interrupted.
   */
  @Throws(InterruptedException::class) fun sleep(seconds: Double)
}

/** The clock of the device. */
object SystemClock : CheckoutClock {
  override val wallMillis: Long get() = System.currentTimeMillis()

  /** Seconds for which the device has been awake. */
  override val seconds: Double get() = System.nanoTime() / 1e9

  /** For a day at most. */
  override fun sleep(seconds: Double) {
    if (seconds > 0) Thread.sleep((minOf(seconds, 86_400.0) * 1000).toLong())
  }
}
