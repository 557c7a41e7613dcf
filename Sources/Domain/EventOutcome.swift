// The outcomes of events, with the words used in the column, the metric and the tables. Pure; any thread.

/// The outcome of an event that carried a valid signature.
public enum EventOutcome: String, Sendable, CaseIterable {
  /// The event belongs to a purchase that has a receipt.
  case receipt
  /// The event concerns a purchase that has no receipt yet, and is stored for it.
  case noted
  /// The event concerns a sale of the merchant outside of the app.
  case foreign
  /// The event is not relevant: another type, a renewal, an abandoned checkout.
  case ignored
  /// The event has a relevant type or no type, and could not be parsed.
  case unparsed
  /// The event is live and the app accepts only test events, or the reverse.
  case otherMode = "other_mode"
  /// The event is of a connected account that the app does not include.
  case otherAccount = "other_account"
  /// The event concerns a purchase of an erased user; its content is not stored.
  case erased
}

/// Why an event could not be read.
public struct ReadingFault: Error, Sendable, Equatable {
  /// The field's path, such as `data.object.payment_status`; `body` for a body that is no object.
  public let field: String
  /// Whether an event of its type may report a payment.
  public let maySell: Bool

  /// In place of a field: the event names its object without having it.
  public static let thin = "thin payload"

  public init(field: String, maySell: Bool) { (self.field, self.maySell) = (field, maySell) }
}
