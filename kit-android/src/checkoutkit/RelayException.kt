// The errors between the app and the relay. No error contains the key. Text for developers is `OperatorText`,
// so that it cannot be shown to a customer by mistake. Pure; thread-safe.

package checkoutkit

/**
 * Text for developers and operators, from the relay, a proxy in front of it or the system. It prints as a
 * placeholder, so a label or a message cannot show it by mistake.
 *
 * @property forLog the text. For logs and bug reports only.
 */
class OperatorText(val forLog: String) {
  /** A placeholder, the same for every text. */
  override fun toString(): String = "(for the log)"

  override fun equals(other: Any?): Boolean = other is OperatorText && other.forLog == forLog

  override fun hashCode(): Int = forLog.hashCode()
}

/** What a customer can do. The app shows its own text for each, in its customers' language. */
enum class Advice(internal val sentence: String) {
  /** No connection: check it and try again. */
  CHECK_CONNECTION("There is no connection to the shop. Check your connection and try again."),
  /** The relay is busy, or the checkout has not ended yet: try again in a moment. */
  TRY_AGAIN("The shop cannot answer right now. Try again in a moment."),
  /** Only the developer or an operator can fix it. */
  CONTACT_SUPPORT("This does not work at the moment. If that continues, contact our support.")
}

/**
 * Why a request to the relay failed. [message] is one of three fixed English sentences, by [advice]. It
 * contains no text from the relay; [logText] has the cause.
 *
 * @property advice what a customer can do.
 * @property logText one sentence for a log, with the relay's advice and the request's id if it sent them.
 */
sealed class RelayException(val advice: Advice, val logText: OperatorText, cause: Throwable? = null) :
  Exception(advice.sentence, cause) {

  /** The relay answered with a status other than 2xx. Redirects are not followed, so this includes 3xx. */
  class Http(val failure: HttpFailure) :
    RelayException(
      if (failure.isTransient) Advice.TRY_AGAIN else Advice.CONTACT_SUPPORT, OperatorText(failure.sentence))

  /** No response. */
  class Network(cause: Throwable, override val isTransient: Boolean = true) :
    RelayException(
      if (isTransient) Advice.CHECK_CONNECTION else Advice.CONTACT_SUPPORT, OperatorText(cause.toString()), cause)

  /** The request cannot be created; the text names the invalid value. */
  class Encoding(text: OperatorText) : RelayException(Advice.CONTACT_SUPPORT, text)

  /** A success with an unexpected body. A captive portal may answer instead of the relay. */
  class UnexpectedAnswer(val answerStatus: Int, val body: OperatorText) :
    RelayException(
      Advice.CHECK_CONNECTION, OperatorText("The relay answered $answerStatus with an unexpected body."))

  /** The app's token provider failed. */
  class NoToken(cause: Throwable) :
    RelayException(Advice.TRY_AGAIN, OperatorText("The app did not provide a token."), cause)

  /** The time was up before the checkout ended. */
  class TimedOut : RelayException(Advice.TRY_AGAIN, OperatorText("The checkout did not end in time."))

  /** The thread was interrupted; its interrupt status is set again. */
  class Cancelled : RelayException(Advice.TRY_AGAIN, OperatorText("Cancelled."))

  /** The HTTP status; null without a response. */
  val status: Int?
    get() = when (this) {
      is Http -> failure.status
      is UnexpectedAnswer -> answerStatus
      else -> null
    }

  /** Whether the same request may succeed later: no network, 408, 429 and 5xx. */
  open val isTransient: Boolean get() = this is Http && failure.isTransient

  /**
   * Whether the relay itself said that it has no such context. Any other 404 is of a proxy, or of a wrong
   * address, and says nothing about the checkout.
   */
  val isUnknownContext: Boolean
    get() = this is Http && status == 404 && failure.problem?.type == "${HttpFailure.PROBLEM}unknown-context"

  internal val retryAfterSeconds: Double? get() = (this as? Http)?.failure?.retryAfterSeconds
}

/**
 * A response other than 2xx.
 *
 * @property status the HTTP status.
 * @property body the body as text; invalid UTF-8 is replaced.
 * @property problem the body, if it is a problem document (RFC 9457), as the relay's are.
 * @property retryAfterSeconds `Retry-After`, in seconds from the response; at most a day.
 */
class HttpFailure @JvmOverloads constructor(
  val status: Int, val body: OperatorText, val problem: Problem? = null, val retryAfterSeconds: Double? = null
) {
  /**
   * The relay's description of the problem, for developers and operators.
   *
   * @property type `urn:receiptd:problem:…`: compare this.
   * @property title a short summary.
   * @property detail what to do, for developers.
   * @property requestId the id of the request in the relay's log; an operator needs it to find the request.
   */
  class Problem(val type: String?, val title: OperatorText?, val detail: OperatorText?, val requestId: String?)

  /** Whether the relay sent it. Otherwise it is of a captive portal, a firewall or a proxy in between. */
  internal val isOfRelay: Boolean get() = problem?.type?.startsWith(PROBLEM) == true

  internal val isTransient: Boolean get() = status == 408 || status == 429 || status in 500..599

  internal val sentence: String
    get() {
      val detail = problem?.detail?.let { " " + it.forLog } ?: ""
      val request = problem?.requestId?.let { " Request $it." } ?: ""
      return "The relay answered $status.$detail$request"
    }

  internal companion object {
    /** The beginning of the type of each of the relay's problems. */
    const val PROBLEM = "urn:receiptd:problem:"

    /** @param nowMillis the time to which a date in `Retry-After` is relative. */
    fun read(response: HttpResponse, nowMillis: Long): HttpFailure {
      val type = response.header("content-type")?.let { LinkText.lowercased(it) }
      val document =
        if (type != null && type.startsWith("application/problem+json")) Json.readObject(response.body) else null
      val problem = document?.let { members ->
        Problem(
          members["type"] as? String, (members["title"] as? String)?.let { OperatorText(it) },
          (members["detail"] as? String)?.let { OperatorText(it) }, members["request_id"] as? String)
      }
      return HttpFailure(
        response.status, response.text, problem,
        response.header("retry-after")?.let { Timestamps.retryAfterSeconds(it, nowMillis) })
    }
  }
}
