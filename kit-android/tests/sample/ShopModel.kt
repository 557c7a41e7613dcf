package com.example.shop

import checkoutkit.Advice
import checkoutkit.CheckoutReturn
import checkoutkit.CheckoutStatus
import checkoutkit.Checkouts
import checkoutkit.ClaimLink
import checkoutkit.ClaimResult
import checkoutkit.LinkDecision
import checkoutkit.LinkRouter
import checkoutkit.Progress
import checkoutkit.RelayException
import checkoutkit.WebCheckoutContext
import checkoutkit.WebCheckoutLink
import java.util.concurrent.Executor
import java.util.concurrent.ExecutorService
import java.util.concurrent.Future

/** What the customer reads. No value can carry a server's text. In your app: in your customers' languages. */
enum class Message(val text: String) {
  NONE(""),
  OPENING("Opening the checkout."),
  NO_CONNECTION("There is no connection. Check it and try again."),
  BUSY("The checkout is busy. Try again in a moment."),
  UNAVAILABLE("The checkout cannot be opened at the moment."),
  IN_BROWSER("Finish paying in your browser, then come back here."),
  CHECKING("Looking for your payment."),
  UNCHECKED("We could not check your payment yet. If you have paid, do not pay again."),
  // True also for a trial and a free order; `CheckoutStatus.isTrial` and `amount` tell them apart.
  PROCESSING("Thank you! Your order is complete and is being processed. Do not pay again."),
  /** Purchasely has accepted the receipt, and processes it later. */
  ACTIVATING("Thank you! We are activating your purchase."),
  /** The app's backend reports the purchase. */
  CONFIRMED("Thank you! Your purchase is active."),
  NOT_PAID("We received no payment, so nothing was bought."),
  EXPIRED("We received no payment in time. A later payment still counts."),
  UNKNOWN("We do not know this checkout any more. If you have paid, please contact our support.")
}

/** A purchase that names no user, and whose link the customer has opened. In your app: in your customers' languages. */
enum class Claim(val text: String) {
  NONE(""),
  /** It waits until the customer has signed in. */
  SIGN_IN("Sign in to add this purchase to your account."),
  ASK("Add this purchase to your account?"),
  ADDING("Adding the purchase to your account."),
  /** The relay could not decide yet. */
  LATER("The purchase could not be added yet. Try again?"),
  ADDED("The purchase is in your account now."),
  OTHER_USER("This purchase belongs to another account."),
  EXPIRED("This link is no longer valid. Please contact our support."),
  UNKNOWN("This link is not valid. Please use the newest one that you got.");

  /** Whether to show the buttons "Add" and "Not now". */
  val isQuestion: Boolean get() = this == ASK || this == LATER

  companion object {
    fun of(result: ClaimResult): Claim = when (result) {
      ClaimResult.CLAIMED, ClaimResult.REPLAY -> ADDED
      ClaimResult.OTHER_USER -> OTHER_USER
      ClaimResult.EXPIRED -> EXPIRED
      ClaimResult.UNKNOWN -> UNKNOWN
      ClaimResult.RETRY_LATER -> LATER
    }
  }
}

/**
 * What the shop does; the activity shows its message. Called on the main thread.
 *
 * @param userId the id that the Purchasely SDK has: the account's, or the anonymous one of this installation.
 * @param isSignedIn whether that is an account's id.
 * @param attributes the Purchasely SDK's built-in attributes.
 * @param reloadEntitlements asks the app's backend for a user's entitlements, and returns whether the purchase is
 *   there. Called on the worker.
 * @param worker for calls that block.
 * @param main runs on the main thread.
 */
class ShopModel(
  private val checkouts: Checkouts,
  private var userId: String,
  private var isSignedIn: Boolean,
  private val attributes: () -> Map<String, Any?>,
  private val reloadEntitlements: (String) -> Boolean,
  private val worker: ExecutorService,
  private val main: Executor
) {
  var onChange: () -> Unit = {}
  /** Opens a web page. One of the app's own host needs a browser that is named: Android would open the app again. */
  var openPage: (url: String, isOwn: Boolean) -> Unit = { _, _ -> }
  /** Posts what is left, also when the app is not running. */
  var schedulePosts: () -> Unit = {}

  /** After the end of the process there may be a checkout that the customer has paid meanwhile. */
  var message = firstMessage
    private set

  var claim = firstClaim
    private set

  private val firstMessage: Message
    get() = if (checkouts.openIds(userId).isEmpty()) Message.NONE else Message.UNCHECKED
  private val firstClaim: Claim
    get() = if (checkouts.keptClaim == null) Claim.NONE else if (isSignedIn) Claim.ASK else Claim.SIGN_IN

  private val router = LinkRouter<Any>(setOf(SCHEME), HOSTS, { CheckoutReturn.read(it) ?: ClaimLink.read(it) })
  private var isActive = false
  private var work: Future<*>? = null
  /** Asks for the other checkouts, once for each time that the activity is in front. */
  private var asking: Future<*>? = null
  /** The number of the checkout that is followed now; a result of an earlier one is ignored. */
  private var following = 0
  private var isFollowing = false

  // Users

  /**
   * The user has signed in or out: [userId] is what the Purchasely SDK has from now on. What the user before has bought
   * is not shown any more.
   */
  fun changeUser(userId: String, isSignedIn: Boolean) {
    val wasActive = isActive
    setActive(false)
    // The result of a page that opens now, or of a checkout that is followed, is the user's before.
    following += 1
    this.userId = userId
    this.isSignedIn = isSignedIn
    claim = firstClaim
    show(firstMessage)
    if (wasActive) setActive(true)
  }

  /** The customer wants the purchase in this account. */
  fun addPurchase() {
    val link = checkouts.keptClaim
    if (link == null || !claim.isQuestion) return
    show(Claim.ADDING)
    val user = userId
    worker.execute {
      val result = try {
        // After CLAIMED, have the Purchasely SDK synchronise.
        Claim.of(checkouts.claim(link, user))
      } catch (failure: RelayException) {
        // Log `failure.logText.forLog` here if you need it.
        Claim.LATER
      }
      // Another user may have signed in meanwhile.
      main.execute { if (user == userId && claim == Claim.ADDING) show(result) }
    }
  }

  /** The customer does not want it in this account. */
  fun declinePurchase() {
    checkouts.discardClaim()
    show(Claim.NONE)
  }

  // Checkouts

  /**
   * The paywall's button was tapped.
   *
   * @param type [WebCheckoutContext.CHECKOUT_SESSION] for a one-time price.
   */
  fun buy(planId: String, type: String = WebCheckoutContext.SUBSCRIPTION) {
    // A second tap would begin a second checkout.
    if (message == Message.OPENING) return
    stopFollowing()
    show(Message.OPENING)
    val context = WebCheckoutContext.of(planId, attributes(), type)
    val user = userId
    fun onMain(body: () -> Unit) = main.execute { if (user == userId) body() }
    worker.execute {
      try {
        val begun = checkouts.begin(context, user)
        onMain {
          show(Message.IN_BROWSER)
          openPage(begun.page, false)
          if (!begun.isPosted) schedulePosts()
        }
      } catch (failure: RelayException) {
        // Log `failure.logText.forLog` here if you need it.
        onMain {
          show(
            when (failure.advice) {
              Advice.CHECK_CONNECTION -> Message.NO_CONNECTION
              Advice.TRY_AGAIN -> Message.BUSY
              Advice.CONTACT_SUPPORT -> Message.UNAVAILABLE
            })
        }
      }
    }
  }

  /** A URL opened the app. */
  fun open(url: String) {
    val link = WebCheckoutLink.read(url, setOf(SCHEME))
    if (link != null) return buy(link.planId)
    val decision = router.receive(url)
    if (decision is LinkDecision.OpenInBrowser) openPage(decision.url, decision.isOwn)
    handlePending()
  }

  /** The activity is in front, or not any more. */
  fun setActive(isActive: Boolean) {
    this.isActive = isActive
    asking?.cancel(true)
    if (!isActive) return stopFollowing()
    handlePending()
    // The customer may come back without the link.
    checkouts.openIds(userId).lastOrNull()?.let { follow(it) }
    askOthers()
  }

  private fun handlePending() {
    if (!isActive) return
    router.activate { place ->
      if (place is ClaimLink) {
        checkouts.keepClaim(place)
        show(firstClaim)
      } else if (place is CheckoutReturn) {
        val open = checkouts.openIds(userId)
        // Without an id it is the last checkout. A link to another customer's checkout is ignored.
        val id = place.contextId ?: open.lastOrNull()
        if (id != null && id in open + checkouts.expiredIds(userId)) follow(id)
      }
    }
  }

  /**
   * Reads the states of the checkouts once: a receipt may have been replayed, and a payment may have come late. On
   * its own thread, so that an old checkout never delays or hides the one that is followed.
   */
  private fun askOthers() {
    val ids = checkouts.openIds(userId).dropLast(1) + checkouts.expiredIds(userId)
    val user = userId
    if (ids.isEmpty()) return
    asking = worker.submit {
      for (id in ids) {
        try {
          val status = checkouts.status(id)
          main.execute { if (isActive && user == userId) showOther(status) }
          val isConfirmed = status.progress == Progress.PROCESSED && checkouts.confirm(id, reloadEntitlements)
          if (isConfirmed) main.execute { if (isActive && user == userId) showOther(Message.CONFIRMED) }
        } catch (failure: RelayException) {
          if (failure is RelayException.Cancelled) break
        }
      }
    }
  }

  /** The checkout that is followed has the first word. */
  private fun showOther(status: CheckoutStatus) {
    if (status.progress == Progress.PROCESSING) showOther(Message.PROCESSING)
    if (status.progress == Progress.PROCESSED) showOther(Message.ACTIVATING)
  }

  private fun showOther(next: Message) {
    val isNews = message in setOf(Message.NONE, Message.CHECKING, Message.NOT_PAID, Message.EXPIRED)
    if (isNews || next == Message.CONFIRMED && message == Message.ACTIVATING && !isFollowing) show(next)
  }

  /** Follows a checkout until it ends or the time is up. */
  private fun follow(id: String) {
    if (isFollowing || message == Message.OPENING) return
    val before = message
    isFollowing = true
    following += 1
    val number = following
    show(Message.CHECKING)
    fun onMain(body: () -> Unit) = main.execute { if (number == following) body() }
    work = worker.submit {
      try {
        val last = checkouts.follow(id) { status -> onMain { show(status) } }
        val isConfirmed = last.progress == Progress.PROCESSED && checkouts.confirm(id, reloadEntitlements)
        onMain {
          if (isConfirmed) show(Message.CONFIRMED)
          end(before)
        }
      } catch (failure: RelayException) {
        onMain {
          // A failure says nothing about the payment: the customer may still pay, or have paid.
          val isTimeUp = failure is RelayException.TimedOut
          end(
            if (failure.isUnknownContext && id !in checkouts.openIds(userId)) Message.UNKNOWN
            else if (before == Message.IN_BROWSER && !isTimeUp) Message.UNCHECKED
            else before)
        }
      }
    }
  }

  private fun show(status: CheckoutStatus) {
    when (status.progress) {
      Progress.PENDING -> Unit
      Progress.PROCESSING -> show(Message.PROCESSING)
      Progress.PROCESSED -> show(Message.ACTIVATING)
      Progress.UNPAID ->
        // Otherwise another checkout was paid.
        if (message == Message.CHECKING) show(if (status.isExpired) Message.EXPIRED else Message.NOT_PAID)
    }
  }

  private fun end(otherwise: Message) {
    isFollowing = false
    if (message == Message.CHECKING) show(otherwise)
  }

  private fun stopFollowing() {
    if (!isFollowing) return
    following += 1
    work?.cancel(true)
    end(Message.UNCHECKED)
  }

  private fun show(next: Message) {
    message = next
    onChange()
  }

  private fun show(next: Claim) {
    claim = next
    onChange()
  }

  companion object {
    const val SCHEME = "exampleapp"
    val HOSTS = setOf("pay.example.com")
  }
}
