// The state of a checkout, as the relay reports it, and its answer to a post. Unknown members are ignored,
// because a newer relay may add some. Pure; thread-safe.

package checkoutkit

/** What an app decides by: what to show, and whether to keep the checkout's id. */
enum class Progress {
  /** Not paid yet. Keep the id. */
  PENDING,
  /** Paid, and not delivered yet. Keep the id and ask again later. If the state is final, the merchant acts first. */
  PROCESSING,
  /** Purchasely has accepted the receipt. Keep the id until your backend reports the purchase: [Checkouts.confirm]. */
  PROCESSED,
  /** No payment has come. Discard the id, unless the state is `expired`: [CheckoutStatus.isExpired]. */
  UNPAID
}

/**
 * The relay's status of a checkout.
 *
 * @property contextId the context that was posted before the checkout.
 * @property state `open`, `paid`, `delivered`, `failed`, `cancelled` or `expired`. A newer relay may send others.
 * @property isPaid whether the money was received, whatever the state of the receipt. An older relay does not
 *   send it: then `failed` counts as paid, because a customer who paid must not read that nothing was bought.
 * @property receiptId the receipt of the purchase; null before the payment.
 * @property amount what the checkout charged, in the currency's smallest unit; null before the payment, and if the
 *   relay does not know it. It is 0 for a free order and for a trial: do not show that a payment was received.
 * @property currency of the amount (ISO 4217); null if nothing was charged.
 * @property isTrial whether the subscription began with a trial.
 * @property updatedAtMillis when the state changed last, in milliseconds since 1970.
 */
data class CheckoutStatus(
  val contextId: String, val state: String, val isPaid: Boolean, val receiptId: String?, val updatedAtMillis: Long?,
  val amount: Long? = null, val currency: String? = null, val isTrial: Boolean = false
) {
  /**
   * Whether it is of no use to wait: only an operator can change the state, and a late payment [isExpired]. It does
   * not imply a payment; decide by [progress].
   */
  val isFinal: Boolean get() = state in FINAL

  /**
   * Whether no payment has come in time. That is not the end: a payment that comes later makes it `paid`. Ask again
   * now and then.
   */
  val isExpired: Boolean get() = state == "expired" && !isPaid

  /** Whether the checkout ended without a payment; its id can be discarded. */
  val isDiscardable: Boolean get() = !isExpired && progress == Progress.UNPAID

  /** What to show, and whether to keep the id. */
  val progress: Progress
    get() = when {
      state == "delivered" -> Progress.PROCESSED
      isPaid -> Progress.PROCESSING
      isFinal -> Progress.UNPAID
      else -> Progress.PENDING
    }

  internal companion object {
    private val FINAL = setOf("delivered", "failed", "cancelled", "expired")
    private val PAID = setOf("paid", "delivered", "failed")

    /** Null when the body is not a status; the caller has the body and reports it. */
    fun read(body: ByteArray): CheckoutStatus? {
      val members = Json.readObject(body) ?: return null
      val contextId = members["context_id"] as? String ?: return null
      val state = members["state"] as? String ?: return null
      val paid = members["paid"]
      if (paid != null && paid !is Boolean) return null
      return CheckoutStatus(
        contextId, state, paid as? Boolean ?: (state in PAID), members["receipt_id"] as? String,
        (members["updated_at"] as? String)?.let { Timestamps.millis(it) }, (members["amount"] as? JsonNumber)?.long,
        members["currency"] as? String, members["trial"] == true)
    }
  }
}

/**
 * A context that the relay has stored.
 *
 * @property contextId `ctx_…`: identifies the checkout. It is a secret: any caller that has it can read the
 *   checkout's state, so do not show it.
 * @property userId the user for whom it was posted.
 * @property stripePriceId the price in the context.
 * @property receivedAtMillis when the relay first received it, in milliseconds since 1970.
 * @property expiresAtMillis when it stops waiting for its purchase.
 * @property checkoutUrl the checkout page for the price, to be opened in the browser; null when none is
 *   configured.
 * @property isRepeat whether the relay already had it.
 */
data class PostedContext(
  val contextId: String, val userId: String, val stripePriceId: String?, val receivedAtMillis: Long?,
  val expiresAtMillis: Long?, val checkoutUrl: String?, val isRepeat: Boolean
) {
  internal companion object {
    /** Null when the body is not a context; the caller has the body and reports it. */
    fun read(status: Int, body: ByteArray): PostedContext? {
      val members = Json.readObject(body) ?: return null
      fun millis(name: String): Long? = (members[name] as? String)?.let { Timestamps.millis(it) }
      // Only a web page: the relay must not open another app.
      val page = (members["checkout_url"] as? String)?.takeIf { ExternalLink.of(it) == ExternalLink.BROWSER }
      return PostedContext(
        members["context_id"] as? String ?: return null, members["user_id"] as? String ?: return null,
        members["stripe_price_id"] as? String, millis("received_at"), millis("expires_at"), page, status == 200)
    }
  }
}
