// What the relay asks of whoever gets receipts. A destination says what to send and what an answer means; it
// knows no processor, no store and does no I/O. A new one is a folder beside `Purchasely`.

public import Domain

/// One app's view of a destination.
public protocol ReceiptDestination: Sendable {
  /// The word for it in rows and logs.
  static var name: String { get }

  /// Where receipts go.
  var url: String { get }

  /// The headers of every request; they carry the credentials and are never logged (R7).
  var headers: [(name: String, value: String)] { get }

  /// The bytes to send. Made once, when the receipt becomes ready; every try sends the same.
  func body(for receipt: ReceiptContent) -> [UInt8]

  /// What an answer means. Total: whatever came back, there is a verdict.
  func verdict(on answer: DeliveryAnswer, now: Timestamp) -> Verdict
}
