// What a key of the configuration is, as a value: the starter file, the manual page, docs/configuration.md
// and the JSON Schema are generated from it. Pure; any thread.

public import Formats

/// One key of the configuration.
public struct KeyDescription: Sendable, Equatable {
  /// What happens when a file omits the key.
  public enum Need: Sendable, Equatable {
    /// It is a fault.
    case required
    /// It is a fault unless another key is there, which the text names. Examples show the preferred one.
    case alternative(isPreferred: Bool)
    /// There is no value; the text says what that means.
    case absent
    /// The value is this one.
    case standard(JSONValue)
    /// Its members have their defaults; it is a fault if one of them is required.
    case section
  }

  public var name: String
  /// What it is for: whole sentences.
  public var text: String
  public var need: Need
  /// A value that a starter file may contain.
  public var example: JSONValue?
  public var shape: ValueShape
  /// Whether a running receiptd keeps the old value, because it uses the key only at the start.
  public var needsRestart = false

  /// Whether a file without the key is faulty.
  public var isRequired: Bool {
    need == .required || need == .section && shape.members.contains(where: \.isRequired)
  }
}

/// Which values a key accepts.
public struct ValueShape: Sendable, Equatable {
  /// Such as `a duration from 1s to 1d`; nil for an object, which its members describe.
  public var words: String?
  /// A JSON Schema (draft 2020-12) without annotations. It accepts every value that the reader accepts, and
  /// rejects what it can.
  public var schema: JSONValue
  /// The keys of an object; of every object if there are several.
  public var members: [KeyDescription] = []
  /// The part of a path between the key and a member: empty, `[]` in a list, `.NAME` among named objects.
  public var infix = ""

  init(_ words: String?, _ schema: JSONValue) {
    self.words = words
    self.schema = schema
  }
}

/// A key with its path.
public struct ConfigurationEntry: Sendable, Equatable {
  /// Such as `apps.NAME.stripe.tolerance`.
  public var path: String
  public var key: KeyDescription

  /// The keys and their members, each directly followed by its members.
  static func all(_ keys: [KeyDescription], in parent: String = "") -> [ConfigurationEntry] {
    keys.flatMap { key in
      let path = parent.isEmpty ? key.name : "\(parent).\(key.name)"
      return [ConfigurationEntry(path: path, key: key)] + all(key.shape.members, in: path + key.shape.infix)
    }
  }
}
