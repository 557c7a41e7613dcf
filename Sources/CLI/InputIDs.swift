// Ids on standard input, for the commands that accept `-`. Pure, except for reading the input.

internal import Domain
internal import Formats
internal import Terminal

enum InputIDs {
  /// Enough for 250,000 receipts as `receipts list --json` prints them.
  static let bytesMax = 128 << 20

  /// The ids on standard input, in their order.
  static func read(_ session: Session) throws -> [String] {
    guard let bytes = try session.dependencies.input(bytesMax) else {
      throw OperatorFault(.badData, "there are more than \(bytesMax >> 20) MiB of input")
    }
    return try ids(in: bytes)
  }

  /// One per line: an id, or a JSON object with an id, as `receipts list --json` prints it. Blank lines are
  /// skipped.
  static func ids(in bytes: [UInt8]) throws(OperatorFault) -> [String] {
    var ids: [String] = []
    for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    {
      let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
      var word = line.drop(while: isSpace)
      while let last = word.last, isSpace(last) { word.removeLast() }
      guard let first = word.first else { continue }
      let id: String?
      if first == UInt8(ascii: "{") {
        // Invalid JSON is reported below.
        id = (try? JSONValue(parsing: Array(word)))?["id"]?.stringValue
      } else {
        id = String(validating: word, as: UTF8.self)
      }
      guard let id, !id.isEmpty, id.utf8.count <= UntrustedText.identifierBytesMax else {
        throw OperatorFault(
          .badData,
          "line \(number + 1) of the input is neither an id nor a JSON object with an \"id\"; nothing was "
            + "changed")
      }
      ids.append(id)
    }
    return ids
  }
}
