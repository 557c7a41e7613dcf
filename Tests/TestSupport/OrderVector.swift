// The payment orders that Swedbank Pay's example backend accepts and refuses, as changes of one order. Pure.

public import Formats

/// A recorded change of the sample order, with the answer of Swedbank Pay's example backend to it.
public struct OrderVector: Sendable, CustomStringConvertible {
  public let id: String
  public let body: JSONValue
  public let referenceStatus: JSONValue?
  /// Where the relay may differ from the example.
  public let ours: JSONValue?
  /// The wrong field.
  public let source: String?

  public var description: String { id }

  /// Whether the relay refuses it, too.
  public var isRefused: Bool { referenceStatus == 400 && ours == nil }

  /// - Parameters:
  ///   - document: the recorded changes.
  ///   - order: the sample order.
  public static func all(in document: JSONValue, changing order: JSONValue) -> [OrderVector] {
    elements(document["vectors"]).map { vector in
      OrderVector(
        id: vector["id"]?.stringValue ?? "",
        body: elements(vector["patch"]).reduce(order) { apply(elements($1), to: $0) },
        referenceStatus: vector["referenceStatus"], ours: vector["ours"],
        source: vector["source"]?.stringValue)
    }
  }

  /// `["set", "/paymentorder/amount", 10.5]` or `["remove", "/paymentorder/amount"]`.
  private static func apply(_ change: [JSONValue], to document: JSONValue) -> JSONValue {
    guard change.count >= 2, let path = change[1].stringValue else { return document }
    let value = change[0] == "set" && change.count == 3 ? change[2] : nil
    return replacing(path.split(separator: "/").map(String.init)[...], in: document, by: value)
  }

  private static func replacing(
    _ path: ArraySlice<String>, in document: JSONValue, by value: JSONValue?
  ) -> JSONValue {
    guard let name = path.first else { return document }
    let rest = path.dropFirst()
    if case .array(var elements) = document {
      guard let index = Int(name), elements.indices.contains(index) else { return document }
      elements[index] = rest.isEmpty ? value ?? .null : replacing(rest, in: elements[index], by: value)
      return .array(elements)
    }
    guard case .object(var members) = document else { return document }
    let new = rest.isEmpty ? value : replacing(rest, in: document[name] ?? [:], by: value)
    members.removeAll { $0.name == name }
    if let new { members.append(.init(name: name, value: new)) }
    return .object(members)
  }

  private static func elements(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let elements)? = value { elements } else { [] }
  }
}
