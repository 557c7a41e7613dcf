// What a posted context says of the place where the customer bought. Pure; called from any thread. Nothing is
// sanitized or escaped.

public import Domain
internal import Formats

public enum ContextText {
  private static let names = [
    (key: "presentation_id", name: "paywall"), (key: "placement_id", name: "placement"),
    (key: "ab_test_id", name: "A/B test"), (key: "ab_test_variant_id", name: "variant"),
    (key: "original_platform", name: "platform"),
  ]

  /// Names and values; none if the context is no JSON object.
  public static func facts(_ blob: ContextBlob) -> [(name: String, value: String)] {
    guard let bytes = Base64.decode(blob.text.utf8.span, .lenient),
      let content = try? JSONValue(parsing: bytes)
    else { return [] }
    return names.compactMap { key, name in
      guard let value = content[key], value != .null else { return nil }
      return (name, value.stringValue ?? value.text)
    }
  }
}
