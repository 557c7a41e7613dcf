// The token of an Afterpay checkout, which identifies its payment. Pure; any thread.

internal import Formats
public import Domain

/// A checkout's token, in the form that the relay accepts.
public struct AfterpayToken: Sendable, Hashable {
  public let text: String

  /// - Returns: nil unless it is 1–255 letters, digits and `. _ ~ + = -` without two dots in a row, because
  ///   it becomes a part of a path. One of Afterpay's: `002.ilqqjf2udmu2rp3xcu7cb6mzup6tefwb3d5yk6czrfvjw`.
  public init?(_ text: String) {
    guard let text = UntrustedText.identifier(text), text.utf8.allSatisfy(Self.isAllowed),
      !text.contains("..")
    else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "._~+=-".utf8.contains(byte)
    }
  }

  /// The purchase that the checkout starts.
  public var key: PurchaseKey {
    PurchaseKey(processor: AfterpayProcessor.name, type: AfterpayProcessor.payment, id: ObjectID(text))
  }
}
