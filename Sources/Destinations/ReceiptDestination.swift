// What the relay requires of a destination of receipts. A destination builds requests and interprets answers;
// it knows no processor and no store, and does no I/O. A new one is a folder beside `Purchasely`.

public import Domain

/// One app's view of a destination.
public protocol ReceiptDestination: Sendable {
  /// Its name in rows and logs.
  static var name: String { get }

  /// The URL that receipts are posted to.
  var url: String { get }

  /// The headers of every request; they include the credentials and are never logged (R7).
  var headers: [(name: String, value: String)] { get }

  /// The bytes to send. Built once, when the receipt becomes ready; every attempt sends the same bytes.
  func body(for receipt: ReceiptContent) -> [UInt8]

  /// The meaning of an answer. Total: returns a verdict for any answer.
  func verdict(on answer: DeliveryAnswer, now: Timestamp) -> Verdict
}
