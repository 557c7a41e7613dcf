// A checkout as a flow of its states.

package checkoutkit

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.runBlocking

/**
 * Follows a checkout as [Checkouts.follow] does: emits each change, and completes when the checkout has ended, or
 * after [withinSeconds]. It fails with a [RelayException]. Each collector asks the relay for itself.
 */
fun SuspendingCheckouts.states(contextId: String, withinSeconds: Double = 600.0): Flow<CheckoutStatus> = channelFlow {
  // On a thread that may block.
  follow(contextId, withinSeconds) { status -> runBlocking { send(status) } }
}
