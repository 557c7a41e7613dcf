// The receipt's states and reasons, as used in columns, answers, tables and metrics. Pure; any thread.

/// The state of a receipt.
public enum ReceiptState: String, Sendable, CaseIterable {
  case waiting, pending, delivered, failed, cancelled
}

/// Why a receipt is in its state. Pending and delivered receipts have no reason.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
  public let text: String
  public init(_ text: String) { self.text = text }
  public var description: String { text }

  /// The list of reasons that can be stored, filtered by and suggested. It does not include `http_NNN`.
  private enum Word: String, CaseIterable {
    case payment, subscription, user, price, context, checkout, destination
    case paymentFailed = "payment_failed"
    case sessionExpired = "session_expired"
    case gaveUp = "gave_up"
    case byOperator = "operator"
    case erased, foreign
  }

  private init(_ word: Word) { text = word.rawValue }

  // What a waiting receipt waits for, and what a failed one never got.
  public static let payment = Reason(.payment)
  /// The checkout is paid; the subscription that it sold has no id yet.
  public static let subscription = Reason(.subscription)
  public static let user = Reason(.user)
  public static let price = Reason(.price)
  public static let context = Reason(.context)
  /// Only sister events of the purchase are known. Its checkout session may name the context, and says
  /// whether payment is still due.
  public static let checkout = Reason(.checkout)
  /// The configuration has no destination for the purchase's processor.
  public static let destination = Reason(.destination)
  // Ends of an unpaid checkout.
  public static let paymentFailed = Reason(.paymentFailed)
  public static let sessionExpired = Reason(.sessionExpired)
  // Ends of a delivery.
  public static let gaveUp = Reason(.gaveUp)
  /// The destination refused the receipt with this status.
  public static func status(_ status: Int) -> Reason { Reason("\(statusPrefix)\(status)") }
  // A success status although the destination accepted nothing.
  /// The answer is an HTML page.
  public static let htmlAnswer = Reason("html_answer")
  /// The answer names errors and no import id.
  public static let errorAnswer = Reason("error_answer")
  /// The answer has a content coding although the request accepts none.
  public static let codedAnswer = Reason("coded_answer")
  public static let hiddenRefusals = [htmlAnswer, errorAnswer, codedAnswer]
  // An operator's action.
  public static let byOperator = Reason(.byOperator)
  /// The receipt's user was erased.
  public static let erased = Reason(.erased)
  /// An event excepted the sale before the receipt was delivered: it is not the app's.
  public static let foreign = Reason(.foreign)

  /// Every reason but `http_NNN`.
  public static let named = Word.allCases.map { Reason($0) }

  /// Parses a reason that an operator typed.
  /// - Returns: nil if no receipt can have it.
  public init?(typed text: String) {
    guard Self.isStatus(text) || Word(rawValue: text) != nil else { return nil }
    self.init(text)
  }

  /// Whether a word is `http_NNN` with a valid HTTP status.
  public static func isStatus(_ word: String) -> Bool {
    let digits = word.dropFirst(statusPrefix.count)
    return word.hasPrefix(statusPrefix) && digits.utf8.count == 3
      && (Int(digits).map { (100...599).contains($0) } ?? false)
  }

  /// Whether the destination refused the content with a status.
  public var isRefusal: Bool { Self.isStatus(text) }

  private static let statusPrefix = "http_"

  /// Whether a replay of all receipts that match a filter leaves the receipt out: its content is incomplete,
  /// it has no destination, it is unpaid, or the sale is not the app's. An operator can still send an unpaid
  /// or a foreign one by its id.
  public var forbidsReplay: Bool {
    switch self {
    case .user, .price, .subscription, .destination, .payment, .foreign: true
    default: false
    }
  }

  /// Reasons for which later events and contexts may still change the receipt, even after it has ended.
  public static let ofJoin: Set<Reason> = [
    .payment, .subscription, .user, .price, .context, .checkout, .destination, .paymentFailed,
    .sessionExpired,
  ]
}
