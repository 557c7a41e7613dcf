// The meanings of reasons and sources of receipts. Pure; called from any thread.

public import Domain
internal import HTTPClient
internal import Platform
internal import Store

extension Reason {
  /// Why a word is not a reason, and which reason was probably meant. Not sanitized: the word is unchanged.
  /// - Returns: nil if receipts can have the reason.
  public static func fault(in word: String) -> String? {
    guard Reason(typed: word) == nil else { return nil }
    // `422`, `HTTP 422` and `http-422` mean `http_422`.
    let digits = String(String.UnicodeScalarView(word.unicodeScalars.filter { ("0"..."9").contains($0) }))
    let meant = Reason(typed: "http_\(digits)") ?? nearest(to: word)
    let suggestion = meant.map { "did you mean \($0.text)? " } ?? ""
    let known = named.map(\.text).joined(separator: ", ")
    return "no receipt can have the reason '\(word)'; \(suggestion)Reasons are \(known), "
      + "and http_NNN for a status that the destination answered"
  }

  private static func nearest(to word: String) -> Reason? {
    EditDistance.nearest(to: word, among: named.map(\.text)).map(Reason.init)
  }

  /// The meaning of the reason, as part of a sentence.
  public var meaning: String {
    switch self {
    case .payment: "the payment is under way"
    case .subscription: "the checkout is paid, and its subscription has no id yet"
    case .user: "no event named the user"
    case .price: "no event named the price"
    case .context: "the context has not arrived"
    case .checkout: "the checkout session has not arrived; it may name the context or be unpaid"
    case .destination: "the configuration has no destination for it"
    case .paymentFailed: "the payment failed"
    case .sessionExpired: "the checkout session expired"
    case .gaveUp: "no attempt succeeded within the configured time"
    case .htmlAnswer: "the destination answered with a web page and accepted nothing"
    case .errorAnswer: "the destination answered with errors and accepted nothing"
    case .codedAnswer: "the destination compressed its answer although it was asked not to"
    case .byOperator: "an operator cancelled it"
    case .erased: "its user was erased"
    case .foreign: "the sale is not the app's"
    default:
      text.hasPrefix("http_")
        ? "the destination answered \(text.dropFirst(5)), which a retry cannot fix" : text
    }
  }
}

extension Receipt {
  /// The reason, with the cause of the last failure if that differs: `gave_up (timeout)`.
  public var reasonText: String? {
    guard let cause = lastCause, cause != reason else { return reason?.text }
    return reason.map { "\($0.text) (\(cause.text))" } ?? cause.text
  }
}

extension Purchase {
  /// Where the user comes from, as text; nil without a user.
  public var userSourceText: String? {
    switch userSource {
    case nil: nil
    case .byOperator: "set by an operator"
    case .context: "from the context"
    case .reference where isOfStore: "the app reported the purchase for them"
    case .reference:
      observations.contains(.started)
        ? "started the payment at the relay" : "the checkout's client_reference_id"
    case .ownKey, .ownKeyOfInvoice: "from the metadata ply_user_id"
    case .metadata, .metadataOfInvoice: "from the metadata"
    case .customerMetadata, .customerMetadataOfLaterKey: "from the customer's metadata"
    case .customer: "the only user seen with this customer"
    case .claim: "claimed with a link"
    }
  }

  /// How the purchase got its context, as text; nil without a context.
  public var contextSourceText: String? {
    let isStarted = observations.contains(.started)
    return switch contextSource {
    case nil: nil
    case .byOperator: "chosen by an operator"
    case .blob where isOfStore: "it came with the purchase"
    case .blob: "its blob is in the metadata"
    case .metadata: isStarted ? "named by the app" : "named in the metadata"
    case .reference: isStarted ? "named by the app" : "named by the checkout's client_reference_id"
    case .guess: "guessed: the user's newest that fits"
    }
  }
}

extension String {
  /// The string with its first letter in upper case.
  public var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Reason {
  /// Whether receiptd's proxy is the cause, not the destination.
  public var isOfProxy: Bool { text == TransferFailure.proxyFailed.rawValue }
}

// MARK: - CauseText

// Why delivery attempts fail, as people type it. A value that no receipt can have is rejected, because an
// empty list would look like good news. Pure; called from any thread.

extension Reason {
  private static let causes =
    TransferFailure.allCases.map(\.rawValue)
    + Reason.hiddenRefusals.filter { $0 != .codedAnswer }.map(\.text)

  /// Why a word is not the cause of a failed attempt, and which one was probably meant. Not sanitized: the
  /// word is unchanged.
  /// - Returns: nil if attempts can fail so.
  public static func fault(inCause word: String) -> String? {
    if causes.contains(word) || isStatus(word) { return nil }
    let status = "http_\(word)"
    let near = isStatus(status) ? status : EditDistance.nearest(to: word, among: causes)
    let advice =
      near.map { "did you mean '\($0)'?" } ?? "the causes are http_STATUS, \(causes.joined(separator: ", "))"
    return "no attempt can fail with '\(word)'; \(advice)"
  }
}
