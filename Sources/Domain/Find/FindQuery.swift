// What an operator searches for: an id of any kind, as it is copied, or a part of one. Pure; any thread.

internal import Formats

/// A text to search for, and the ids that it may be or may begin.
public struct FindQuery: Sendable, Equatable {
  /// The shortest part of an id that is searched for, in characters after the id's prefix: a shorter one
  /// would find thousands.
  public static let partMin = 6

  /// As the operator typed it, without surrounding spaces.
  public let text: String
  /// The ids that it may be. The first is the text.
  public let ids: [String]
  /// The beginnings of ids that it may be; empty if it is too short.
  public let beginnings: [String]

  /// - Parameter folders: the paths in which processors' ids are, such as `/psp/paymentorders/`. A portal
  ///   shows only what follows.
  /// - Returns: nil if the text cannot be a part of an id: it is empty, longer than an id, or has control
  ///   characters.
  public init?(_ typed: String, folders: [String] = []) {
    let spaces: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
    var scalars = Substring(typed).unicodeScalars
    while let first = scalars.first, spaces(first) { scalars.removeFirst() }
    while let last = scalars.last, spaces(last) { scalars.removeLast() }
    guard let text = UntrustedText.identifier(String(scalars)) else { return nil }
    self.text = text
    var ids = [text]
    func add(_ id: some StringProtocol) {
      if !id.isEmpty, !ids.contains(String(id)) { ids.append(String(id)) }
    }
    if let path = Self.path(ofURL: text) {
      add(path)
      // The URLs of a processor's dashboard end with the id.
      add(path.split(separator: "/").last ?? "")
    }
    for generated in Self.generated(text) { add(generated) }
    for id in ids where !id.contains("/") && !id.contains("@") && !id.contains("_") {
      for folder in folders { add(folder + id) }
    }
    self.ids = ids
    beginnings = ids.filter { Self.hasPart($0) }
  }

  /// Whether it may be an e-mail address. Addresses are personal data: no URL and no log may have them.
  public var isAddress: Bool { text.contains("@") }

  /// The row of the purchase whose receipt's id ends with the text, if that is long enough to have it.
  public var receiptRow: PurchaseRowID? {
    let length = text.utf8.count
    // The last 16 characters of an id are the row and 40 random bits.
    guard length >= 16, length < 26, !text.contains("_") else { return nil }
    let id = ReceiptID(ReceiptID.prefix + String(repeating: "0", count: 26 - length) + text.uppercased())
    return id.purchaseRow
  }

  /// The path of a URL, without its query and fragment; nil for any other text.
  private static func path(ofURL text: String) -> Substring? {
    guard let start = text.firstRange(of: "://")?.upperBound else { return nil }
    let rest = text[start...].drop { $0 != "/" }
    return rest.prefix { $0 != "?" && $0 != "#" }
  }

  /// The relay's own ids that a text may be: their letters are capitals, and people leave the prefix out.
  private static func generated(_ text: String) -> [String] {
    let prefixes = [ReceiptID.prefix, ContextID.prefix]
    let small = text.lowercased()
    if let prefix = prefixes.first(where: { small.hasPrefix($0) }) {
      return [prefix + text.dropFirst(prefix.count).uppercased()]
    }
    guard text.utf8.count == 26 else { return [] }
    return prefixes.map { $0 + text.uppercased() }
  }

  /// Whether enough follows the prefix of an id: `cs_test_`, `sub_`, `/psp/paymentorders/`.
  private static func hasPart(_ id: String) -> Bool {
    IDText.core(id).utf8.count >= partMin
  }
}

// MARK: - IDText

// The parts of an id: what kind it is of, and what distinguishes it. Pure; any thread.

/// Rules for the texts of ids of any processor.
public enum IDText {
  /// What follows the prefix of an id: `sub_`, `cs_test_`, `/psp/paymentorders/`; all of an id without one.
  public static func core(_ id: String) -> Substring {
    // Bytes: characters take several times as long, and each id of each event is read.
    let bytes = id.utf8
    if let slash = bytes.lastIndex(of: UInt8(ascii: "/")) { return id[bytes.index(after: slash)...] }
    var rest = bytes[...]
    let kind = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    if !kind.isEmpty, rest.dropFirst(kind.count).first == UInt8(ascii: "_") {
      rest = rest.dropFirst(kind.count + 1)
    }
    for mode in ["test_", "live_"] where rest.starts(with: mode.utf8) {
      rest = rest.dropFirst(mode.utf8.count)
    }
    return Substring(rest)
  }
}
