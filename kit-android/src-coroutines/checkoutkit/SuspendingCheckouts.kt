// Checkouts for coroutines: the same functions, which suspend instead of blocking. Thread-safe.

package checkoutkit

import java.util.concurrent.Callable
import java.util.concurrent.ExecutionException
import java.util.concurrent.FutureTask
import kotlin.coroutines.resume
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * [Checkouts] for coroutines. A cancelled coroutine goes on at once; its thread is interrupted, and ends the request
 * shortly after.
 *
 * @property checkouts has the functions that do not wait, such as [Checkouts.openIds] and [Checkouts.discard].
 * @param dispatcher has threads that may block; a checkout that is followed needs one until it ends.
 */
class SuspendingCheckouts @JvmOverloads constructor(
  val checkouts: Checkouts, private val dispatcher: CoroutineDispatcher = Dispatchers.IO
) {
  /** As [Checkouts.begin]. A checkout that is cancelled before it has begun is discarded. */
  suspend fun begin(context: WebCheckoutContext, userId: String): BegunCheckout =
    interruptible { checkouts.begin(context, userId) }

  /** As [Checkouts.postPending]. */
  suspend fun postPending(): Double? = interruptible { checkouts.postPending() }

  /** As [Checkouts.follow]. [onChange] is called on a thread of the dispatcher. */
  suspend fun follow(
    contextId: String, withinSeconds: Double = 600.0, onChange: (CheckoutStatus) -> Unit = {}
  ): CheckoutStatus = interruptible { checkouts.follow(contextId, withinSeconds, onChange) }

  /** As [Checkouts.status]. */
  suspend fun status(contextId: String): CheckoutStatus = interruptible { checkouts.status(contextId) }

  /** As [Checkouts.confirm]. [reloadEntitlements] is called on a thread of the dispatcher, and is cancelled, too. */
  suspend fun confirm(contextId: String, reloadEntitlements: suspend (String) -> Boolean): Boolean =
    interruptible { checkouts.confirm(contextId) { userId -> runBlocking { reloadEntitlements(userId) } } }

  /** As [Checkouts.claim]. */
  suspend fun claim(link: ClaimLink, userId: String): ClaimResult = interruptible { checkouts.claim(link, userId) }

  /** Runs a body that blocks, and interrupts it when the coroutine is cancelled. */
  private suspend fun <T> interruptible(body: () -> T): T {
    val task = FutureTask(Callable { body() })
    suspendCancellableCoroutine<Unit> { continuation ->
      continuation.invokeOnCancellation { task.cancel(true) }
      dispatcher.dispatch(continuation.context, Runnable {
        task.run()
        // The thread is the dispatcher's, whose next task was not cancelled.
        Thread.interrupted()
        // Not with the failure: one that comes after the cancellation would end the app.
        continuation.resume(Unit)
      })
    }
    try {
      return task.get()
    } catch (failed: ExecutionException) {
      throw failed.cause ?: failed
    }
  }
}
