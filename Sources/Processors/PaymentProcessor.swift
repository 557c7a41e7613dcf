// What the relay asks of whoever takes the money. A processor says what an event means in terms of purchases;
// it knows no destination, no store and no HTTP. A new one is a folder beside `Stripe`.

public import Domain

/// One app's view of a payment processor: how its webhooks are authenticated and what they mean.
public protocol PaymentProcessor: Sendable {
  /// The word for it in URLs, rows and metrics.
  static var name: ProcessorName { get }

  /// What the rules of the join must know of it.
  /// - Parameter isAsked: whether the app has a key for asking it.
  static func rules(isAsked: Bool) -> ProcessorRules

  /// The name of the header that carries the signature.
  static var signatureHeader: String { get }

  /// Decides whether a body came from the processor, over its raw bytes and before anything reads them (R6).
  /// - Parameter signatures: the values of every header named `signatureHeader`.
  func verify(signatures: [String], body: [UInt8], now: Timestamp) -> Verification

  /// Reads what a genuine body says. Total: whatever the bytes are, the answer is a value.
  func read(_ body: [UInt8], now: Timestamp) -> EventReading

  /// What the processor can be asked; nil when it cannot, or when the app has no key for it.
  var queries: (any ProcessorQueries)? { get }
}

extension PaymentProcessor {
  public var queries: (any ProcessorQueries)? { nil }
}

/// Whether a body is genuine.
public enum Verification: Sendable, Equatable {
  case genuine
  case refused(SignatureFault)
}

/// Why a signature was refused; the raw value is the metric's label.
public enum SignatureFault: String, Sendable, CaseIterable {
  /// There is no signature at all.
  case missing
  /// The header is not of the form that the processor sends.
  case malformed
  /// No signature matches: another secret, or an altered body.
  case mismatch
  /// Rightly signed, too long ago.
  case stale
  /// Rightly signed, with a time that is yet to come.
  case future
}

/// What an event is, and what it says.
public struct EventReading: Sendable, Equatable {
  /// What the relay is to do with the event.
  public enum Content: Sendable, Equatable {
    /// It speaks of a purchase.
    /// - isWorthKeeping: whether it may serve a purchase that is yet to come.
    case purchase(PurchaseReport, isWorthKeeping: Bool)
    /// There is nothing to do, for this reason.
    case nothing(EventOutcome)
  }

  /// The processor's id of the event; nil when it has none that could be read.
  public var id: String?
  /// The processor's name for the kind of event; empty when it could not be read.
  public var type: String
  public var content: Content

  public init(id: String?, type: String, content: Content) {
    self.id = id
    self.type = type
    self.content = content
  }
}
