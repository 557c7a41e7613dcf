// Which receipts a bulk verb is about: ids as arguments, ids on standard input, or filters.

internal import Domain
internal import JSON
internal import Relay
internal import Store
internal import Terminal

enum ReceiptChoice {
  /// Each once, in the order given.
  case ids([String])
  /// At most `limit`, the newest.
  case filter(ReceiptFilter, limit: Int?)

  /// What stands for standard input.
  static let inputWord = "-"
  /// Ids on standard input: a quarter of a million as `receipts list --json` prints them.
  static let inputBytesMax = 128 << 20

  init(_ session: Session, _ configuration: Configuration) throws {
    let words = session.command.positionals
    let given = ReceiptsNoun.filterNames.filter(session.command.options.contains)
    guard words.isEmpty else {
      guard given.isEmpty else {
        throw session.usage("name receipts by id, or choose them with filters, not both")
      }
      guard words.contains(Self.inputWord) else {
        self = .ids(Self.unique(words))
        return
      }
      guard words.count == 1 else {
        throw session.usage("give ids as arguments, or '-' alone to read them from the input")
      }
      guard let bytes = try session.surroundings.input(Self.inputBytesMax) else {
        throw OperatorFault(.badData, "there are more than \(Self.inputBytesMax >> 20) MiB of input")
      }
      self = .ids(Self.unique(try Self.ids(in: bytes)))
      return
    }
    guard session.command.options.contains("state") else {
      throw session.usage(
        "say which: ids, '-' to read them from the input, or --state with more filters, such as "
          + "--state failed")
    }
    let limit = try session.command.integer("limit", in: 1...Int(Int32.max))
    self = .filter(try ReceiptsNoun.filter(session, session.app(configuration)), limit: limit)
  }

  /// One to a line: an id, or a JSON object with one, as `receipts list --json` prints them. Blank lines are
  /// left out.
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
        // What is no JSON is told below.
        id = (try? JSONValue(parsing: Array(word)))?["id"]?.stringValue
      } else {
        id = String(validating: word, as: UTF8.self)
      }
      guard let id, !id.isEmpty, id.utf8.count <= OutsideText.identifierBytesMax else {
        throw OperatorFault(
          .badData,
          "line \(number + 1) of the input is neither an id nor a JSON object with an \"id\"; nothing was "
            + "changed")
      }
      ids.append(id)
    }
    return ids
  }

  private static func unique(_ ids: [String]) -> [String] {
    var seen: Set<String> = []
    return ids.filter { seen.insert($0).inserted }
  }
}

extension ReceiptOutline {
  /// The receipts with these ids, however many; each once, unknown ones left out.
  static func all(_ ids: [String], _ reader: StoreReader) throws -> [ReceiptOutline] {
    var found: [ReceiptOutline] = []
    var rest = ids[...]
    while !rest.isEmpty {
      found += try reader.outlines(ids: Array(rest.prefix(StoreReader.idsMax)))
      rest = rest.dropFirst(StoreReader.idsMax)
    }
    return found
  }
}
