// Changes of a JSON text that leave every other byte as it is: numbers and strings that nobody reads here are
// never written again. Pure; any thread.

internal import Formats

/// Changes of one JSON text.
struct TextEdits {
  private var edits: [(range: Range<Int>, text: [UInt8])] = []

  /// Replaces a value.
  mutating func replace(_ node: JSONNode, by value: JSONValue) {
    edits.append((node.textRange, value.serialized()))
  }

  /// Sets members of an object: replaces the values of those that exist, and adds the others at its end. Call
  /// it once for each object.
  mutating func set(_ members: [(name: String, value: [UInt8])], in object: JSONNode) {
    guard let range = object.range, object.isObject else { return }
    var added: [UInt8] = []
    var isEmpty = true
    object.forEachMember { _, _ in isEmpty = false }
    for (name, value) in members {
      if let old = object.member(named: name) {
        edits.append((old.textRange, value))
      } else {
        if !isEmpty { added.append(UInt8(ascii: ",")) }
        isEmpty = false
        added += JSONValue.string(name).serialized() + [UInt8(ascii: ":")] + value
      }
    }
    let end = range.upperBound - 1
    if !added.isEmpty { edits.append((end..<end, added)) }
  }

  /// The text with all changes. Of two changes that overlap, the one that begins first counts.
  func applied(to text: [UInt8]) -> [UInt8] {
    if edits.isEmpty { return text }
    var out: [UInt8] = []
    out.reserveCapacity(text.count + edits.reduce(0) { $0 + $1.text.count })
    var position = 0
    for (range, new) in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      guard range.lowerBound >= position, range.upperBound <= text.count else { continue }
      out += text[position..<range.lowerBound]
      out += new
      position = range.upperBound
    }
    return out + text[position...]
  }
}

extension JSONNode {
  /// The value's bytes in its text.
  func bytes(of text: [UInt8]) -> [UInt8] {
    let range = textRange
    return range.upperBound <= text.count ? Array(text[range]) : []
  }
}
