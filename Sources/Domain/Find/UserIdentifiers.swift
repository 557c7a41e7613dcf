// Everything by which the stored data of one user is found in an app. Values; any thread.

public import Formats

/// The identifiers of a user in an app, which an erasure searches for: the user's own ids; the ids of
/// contexts, customers, purchases and of what events mention; e-mail addresses.
public struct UserIdentifiers: Sendable, Equatable {
  /// The merchant's ids of the user. They may be common words or numbers, so they count only where an id of a
  /// user is expected.
  public var users: Set<UserID> = []
  /// Ids that nothing else has.
  public private(set) var ids: Set<String> = []
  /// In the form of `Mentions.address`.
  public private(set) var addresses: Set<String> = []
  /// The ids that are also recognized inside a longer text, such as a URL.
  private var words: Set<String> = []
  private static let wordBytesMin = 12

  public init() {}

  /// Adds an id; ignores what is already erased.
  public mutating func add(_ id: (some TextID)?) { add(id: id?.text) }

  public mutating func add(id: String?) {
    guard let id, !id.isEmpty, !id.utf8.starts(with: Purchase.erasedPrefix.utf8) else { return }
    ids.insert(id)
    // The last part of a path is the id of its object.
    let word = id.split(separator: "/").last.map(String.init) ?? ""
    if word.utf8.count >= Self.wordBytesMin, word.utf8.allSatisfy(Self.isWordByte) { words.insert(word) }
  }

  public mutating func add(address: String?) {
    if let address = address.flatMap(Mentions.address) { addresses.insert(address) }
  }

  /// Adds what an event of the user names. References are the merchant's texts, which several users may
  /// share.
  public mutating func add(_ mentions: Mentions) {
    for id in mentions.ids where !mentions.references.contains(id) { add(id: id) }
    addresses.formUnion(mentions.addresses)
  }

  public mutating func formUnion(_ other: Self) {
    users.formUnion(other.users)
    ids.formUnion(other.ids)
    addresses.formUnion(other.addresses)
    words.formUnion(other.words)
  }

  /// Whether a text is one of the ids or addresses.
  public func isNamed(by text: String) -> Bool {
    ids.contains(text) || (!addresses.isEmpty && Mentions.address(text).map(addresses.contains) ?? false)
  }

  /// Whether a text contains one of the long ids, such as a URL does.
  public func isNamed(in text: some Sequence<UInt8>) -> Bool {
    guard !words.isEmpty else { return false }
    var word: [UInt8] = []
    for byte in text {
      if Self.isWordByte(byte) {
        word.append(byte)
      } else {
        if isWord(word) { return true }
        word.removeAll(keepingCapacity: true)
      }
    }
    return isWord(word)
  }

  /// Whether an operator's words name the user in any way.
  public func isNamed(inWords text: String) -> Bool {
    let parts = text.split { $0.isWhitespace || ",;()<>\"'".contains($0) }.map { part in
      String(part.last.map { ".:!?".contains($0) } == true ? part.dropLast() : part)
    }
    return parts.contains { users.contains(UserID($0)) || isNamed(by: $0) } || isNamed(in: text.utf8)
  }

  private func isWord(_ word: [UInt8]) -> Bool {
    word.count >= Self.wordBytesMin && words.contains(String(decoding: word, as: UTF8.self))
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "-")
  }
}

// MARK: - Events

// What names a user in the body of an event.

extension UserIdentifiers {
  /// Whether an event names the user: by an id or an address anywhere, or by the user's own id where an event
  /// carries one, in metadata and in a checkout's reference.
  public func isNamed(inEvent body: JSONValue) -> Bool { blanked(body) != body }

  /// An event with an empty text wherever it names the user.
  public func blanked(_ body: JSONValue) -> JSONValue { blanked(body, mayBeUser: false) }

  private func blanked(_ value: JSONValue, mayBeUser: Bool) -> JSONValue {
    switch value {
    case .string(let text): isMeant(by: text, mayBeUser: mayBeUser) ? "" : value
    case .array(let values): .array(values.map { blanked($0, mayBeUser: false) })
    case .object(let members):
      .object(
        members.map { member in
          let namesUsers = member.name == "metadata" || member.name == "client_reference_id"
          return JSONValue.Member(
            name: member.name, value: blanked(member.value, mayBeUser: mayBeUser || namesUsers))
        })
    default: value
    }
  }

  /// The join reads an id without the white space around it, and repairs that of a context.
  private func isMeant(by text: String, mayBeUser: Bool) -> Bool {
    if isNamed(by: text) { return true }
    if mayBeUser, users.contains(UserID(UntrustedText.trimmed(text))) { return true }
    return ContextID.isMeant(by: text) && ContextID(repairing: text).map { ids.contains($0.text) } ?? false
  }
}
