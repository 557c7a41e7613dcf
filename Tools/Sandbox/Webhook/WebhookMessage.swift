// What a webhook of the relay says about a purchase. Pure; any thread.

internal import Formats
internal import Platform

/// The body of a webhook.
public struct WebhookMessage: Sendable, Equatable {
  /// `purchase.completed` or `purchase.reversed`; other types are to be ignored by receivers.
  public var type: String
  public var app: String
  public var user: String
  public var processor: String
  public var objectType: String
  public var objectID: String
  public var priceID: String?
  /// In major units: `59.99`.
  public var amount: String?
  public var currency: String?
  public var context: String?
  public var contextID: String?

  /// What is wrong with a body.
  public struct Fault: Error, Equatable {
    public var description: String
  }

  /// Reads a body, and checks every member that it knows.
  public init(parsing body: [UInt8]) throws(Fault) {
    guard let value = try? JSONValue(parsing: body), value.members != nil else {
      throw Fault(description: "the body is not a JSON object")
    }
    type = try Self.text("type", in: value)
    let time = try Self.text("timestamp", in: value)
    guard RFC3339.unixMilliseconds(parsing: time) != nil else {
      throw Fault(description: "timestamp is not a time of RFC 3339")
    }
    guard let data = value["data"], data.members != nil else {
      throw Fault(description: "data is not an object")
    }
    app = try Self.text("app", in: data)
    user = try Self.text("user_id", in: data)
    processor = try Self.text("processor", in: data)
    objectType = try Self.text("object_type", in: data)
    objectID = try Self.text("object_id", in: data)
    priceID = try Self.optionalText("price_id", in: data)
    amount = try Self.optionalText("amount", in: data)
    currency = try Self.optionalText("currency", in: data)
    context = try Self.optionalText("ply_context", in: data)
    contextID = try Self.optionalText("context_id", in: data)
    if let amount, !Self.isAmount(amount) { throw Fault(description: "amount is not a decimal") }
    if (amount == nil) != (currency == nil) {
      throw Fault(description: "amount and currency belong together")
    }
  }

  private static func text(_ name: String, in object: JSONValue) throws(Fault) -> String {
    guard let text = object[name]?.stringValue, !text.isEmpty else {
      throw Fault(description: "\(name) is missing or not a text")
    }
    return text
  }

  private static func optionalText(_ name: String, in object: JSONValue) throws(Fault) -> String? {
    guard let value = object[name], value != .null else { return nil }
    guard let text = value.stringValue else { throw Fault(description: "\(name) is not a text") }
    return text
  }

  /// Digits, and possibly more digits after a point: money is never a float.
  private static func isAmount(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return (1...2).contains(parts.count)
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }
}
