// The shape that a request's JSON must have, as data: which members an object needs, and the type of each.
// Members that a shape does not name are checked by Swedbank Pay, not here. Pure; any thread.

internal import Formats

/// Why a request's JSON does not have its shape.
struct ShapeFault: Error, Equatable, CustomStringConvertible {
  /// `paymentorder.orderItems[0].type`; empty for the whole document.
  let path: String
  let message: String

  /// A sentence for the app's developer.
  var description: String { "\(path.isEmpty ? "The body" : path) \(message)." }
}

/// What a value must be. Not an `indirect` enum: the boxes of one that lives for ever count as leaks.
enum RequestShape: Sendable {
  /// - max: the most UTF-16 code units, which is how the SDKs' platforms count.
  case text(orEmpty: Bool = false, max: Int = .max)
  /// One of these strings.
  case choice([String])
  /// An integer that every reader of JSON holds exactly (RFC 8259 §6), also as a string of digits.
  case integer
  case bool
  /// An array whose elements have this shape. Made by `list`; an array holds the shape, because an enum
  /// cannot hold itself.
  case array(of: [RequestShape])
  case object(ObjectShape)
  case any
}

/// What an object must be.
struct ObjectShape: Sendable {
  struct Member: Sendable {
    let name: String
    let shape: RequestShape
    let isRequired: Bool
  }

  let members: [Member]
  /// Whether it may have other members.
  let isOpen: Bool
  /// Optional names that the relay reads or sets. Some readers of JSON ignore the case of names; for those,
  /// another spelling would be a value that the relay has not seen.
  let exactNames: [String]

  init(
    required: [(String, RequestShape)], optional: [(String, RequestShape)] = [], isOpen: Bool = true,
    exactNames: [String] = []
  ) {
    members =
      required.map { Member(name: $0.0, shape: $0.1, isRequired: true) }
      + optional.map { Member(name: $0.0, shape: $0.1, isRequired: false) }
    self.isOpen = isOpen
    self.exactNames = exactNames
  }
}

extension RequestShape {
  static func list(_ element: RequestShape) -> RequestShape { .array(of: [element]) }

  /// The largest integer that a double holds exactly, as all smaller ones.
  private static let integerMax: Int64 = 9_007_199_254_740_991

  /// - Parameter path: of the value, for messages.
  func check(_ node: JSONNode, at path: String) throws(ShapeFault) {
    func fault(_ message: String) -> ShapeFault { ShapeFault(path: path, message: message) }
    switch self {
    case .text(let orEmpty, let max):
      guard let text = node.string else { throw fault("must be a string") }
      guard orEmpty || !text.isEmpty else { throw fault("must not be empty") }
      guard text.utf16.count <= max else { throw fault("may have at most \(max) characters") }
    case .choice(let choices):
      guard let text = node.string, choices.contains(text) else {
        throw fault("must be \(choices.count == 1 ? "" : "one of ")\(choices.joined(separator: ", "))")
      }
    case .integer:
      guard let number = Self.integer(node), number.magnitude <= Self.integerMax.magnitude else {
        throw fault("must be an integer")
      }
    case .bool:
      guard node.bool != nil || node.isString("true") || node.isString("false") else {
        throw fault("must be true or false")
      }
    case .array(let elements):
      guard node.isArray else { throw fault("must be an array") }
      for element in elements { try Self.checkElements(of: node, element, at: path) }
    case .object(let shape):
      guard node.isObject else { throw fault("must be an object") }
      try shape.check(node, at: path)
    case .any: break
    }
  }

  /// The value of an integer, or of a string of digits, which the example backend accepts, too.
  static func integer(_ node: JSONNode) -> Int64? {
    if let number = node.int64 { return number }
    guard let text = node.string, !text.hasPrefix("+") else { return nil }
    return Int64(text)
  }

  private static func checkElements(
    of node: JSONNode, _ shape: RequestShape, at path: String
  ) throws(ShapeFault) {
    var fault: ShapeFault?
    var index = 0
    node.forEachElement { element in
      defer { index += 1 }
      guard fault == nil else { return }
      do throws(ShapeFault) {
        try shape.check(element, at: "\(path)[\(index)]")
      } catch {
        fault = error
      }
    }
    if let fault { throw fault }
  }
}

extension ObjectShape {
  func check(_ node: JSONNode, at path: String) throws(ShapeFault) {
    func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
    for member in members {
      guard let value = node.member(named: member.name) else {
        if member.isRequired { throw ShapeFault(path: place(member.name), message: "is required") }
        continue
      }
      try member.shape.check(value, at: place(member.name))
    }
    // Also readers that keep the first of two members and those that keep the last one must agree.
    var fault: ShapeFault?
    var seen: Set<String> = []
    let known = Set(members.map(\.name))
    let exact = Dictionary(
      exactNames.map { (Self.folded($0), $0) }, uniquingKeysWith: { first, _ in first })
    node.forEachMember { name, _ in
      guard fault == nil, let name = name.string else { return }
      let folded = Self.folded(name)
      if !seen.insert(folded).inserted {
        fault = ShapeFault(path: place(name), message: "is there more than once")
      } else if let right = exact[folded], right != name {
        fault = ShapeFault(path: place(name), message: "must be written \(right)")
      } else if !isOpen, !known.contains(name) {
        fault = ShapeFault(path: place(name), message: "is not allowed")
      }
    }
    if let fault { throw fault }
  }

  /// A name without its case. Both steps: the long s, for example, becomes an s only in upper case.
  static func folded(_ name: String) -> String { name.uppercased().lowercased() }
}
