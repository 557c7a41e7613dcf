// What a receipt's state means and what a person can do about it. Pure.

internal import Domain
internal import Store
internal import Terminal

/// Advice about one receipt.
struct ReceiptAdvice {
  let lines: [String]

  init(_ record: PurchaseRecord, _ receipt: Receipt, breaker: Breaker?, _ session: Session) {
    let id = DisplayText.clean(receipt.id)
    let verb = "receiptctl receipts"
    switch receipt.state {
    case .delivered:
      lines = [
        "The destination has taken it in; nothing is to be done. It processes receipts later: when a "
          + "purchase does not show up there, ask its support about the import id."
      ]
    case .pending:
      lines =
        BreakerText(breaker, app: record.app, session).map {
          ["Deliveries of this app \($0.sentence)", $0.advice]
        }
        ?? ["It is sent when it is due, as long as receiptd runs. At once: \(verb) replay \(id)"]
    case .waiting, .failed, .cancelled:
      let meaning = receipt.reason.map(Self.meaning(of:)) ?? "it stopped"
      lines = ["\(Self.sentence(meaning)).", Self.remedy(receipt, id: id, verb: verb, session)]
    }
  }

  private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  private static func remedy(_ receipt: Receipt, id: String, verb: String, _ session: Session) -> String {
    let wait = receipt.waitUntil.map { ", or until it is decided without (\(session.relative($0)))" } ?? ""
    switch (receipt.state, receipt.reason) {
    case (_, .user?): return "Supply the user: \(verb) complete \(id) --user USER"
    case (_, .price?): return "Supply the price: \(verb) complete \(id) --price PRICE"
    case (.waiting, .context?):
      return "It goes on when the context comes\(wait). Without it, at once: \(verb) replay \(id)"
    case (.waiting, _): return "It goes on by itself when that comes\(wait)."
    case (.cancelled, .erased?): return "Nothing is left of it that could be sent."
    case (.cancelled, _): return "To deliver it after all: \(verb) replay \(id)"
    default: return "Once the cause is mended: \(verb) replay \(id)"
    }
  }

  /// What a reason says.
  static func meaning(of reason: Reason) -> String {
    switch reason {
    case .payment: "the payment is under way"
    case .subscription: "the checkout is paid, and its subscription has no id yet"
    case .user: "no event named the user"
    case .price: "no event named the price"
    case .context: "the context has not come"
    case .paymentFailed: "the payment did not come"
    case .sessionExpired: "the checkout ended unfinished"
    case .gaveUp: "it was tried for as long as is configured, in vain"
    case .byOperator: "an operator cancelled it"
    case .erased: "its user was forgotten"
    default:
      if reason.text.hasPrefix("http_") {
        "the destination answered \(reason.text.dropFirst(5)), so trying again could not help"
      } else {
        reason.text
      }
    }
  }
}

/// Why an app's deliveries do not go.
struct BreakerText {
  let sentence: String
  let advice: String

  /// - Returns: nil when they go.
  init?(_ breaker: Breaker?, app: String, _ session: Session) {
    guard let breaker else { return nil }
    let app = DisplayText.clean(app)
    let cause = breaker.cause.map { " (\($0.text))" } ?? ""
    let probe = breaker.probeAt.map { ", next probe \(session.relative($0))" } ?? ""
    switch breaker.state {
    case .paused:
      sentence = "were paused \(session.relative(breaker.since))\(cause)\(probe)."
      advice =
        "The configuration is wrong: see apps.\(app).purchasely.url and .api_key, then reload receiptd "
        + "(SIGHUP). Nothing is lost or given up meanwhile."
    case .open:
      sentence = "stopped \(session.relative(breaker.since)), the destination is down\(cause)\(probe)."
      advice = "They go on by themselves once it is back."
    case .closed:
      guard let rest = breaker.restUntil, rest > session.now else { return nil }
      sentence = "rest, as the destination asked; they go on \(session.relative(rest))."
      advice = "They go on by themselves."
    }
  }
}
