// Selects the receipts of a bulk command: ids as arguments, ids on standard input, or filters.

internal import Config
internal import Domain
internal import Formats
internal import Store
internal import Terminal

enum ReceiptChoice {
  /// Without duplicates, in the given order.
  case ids([ReceiptID])
  /// At most `limit`, the newest.
  case filter(ReceiptFilter, limit: Int?)

  /// The same for a job.
  var source: JobSource {
    switch self {
    case .ids(let ids): .ids(count: ids.count)
    case .filter(let filter, let limit): .filter(filter, limit: limit)
    }
  }

  /// The argument that means standard input.
  static let inputWord = "-"

  init(_ session: Session, _ configuration: Configuration) throws {
    let words = session.command.positionals
    let given = ReceiptsCommands.givenFilters(session)
    guard words.isEmpty else {
      guard given.isEmpty else {
        throw session.usage("name receipts by id, or choose them with filters, not both")
      }
      guard words.contains(Self.inputWord) else {
        self = .ids(Self.unique(words.map(ReceiptID.init)))
        return
      }
      guard words.count == 1 else {
        throw session.usage("give ids as arguments, or '-' alone to read them from the input")
      }
      self = .ids(Self.unique(try InputIDs.read(session).map(ReceiptID.init)))
      return
    }
    guard session.command.options.contains("state") else {
      throw session.usage(
        "say which: ids, '-' to read them from the input, or --state with more filters, such as "
          + "--state failed")
    }
    let limit = try session.command.integer("limit", in: 1...Int(Int32.max))
    self = .filter(try ReceiptsCommands.filter(session, configuration), limit: limit)
  }

  private static func unique(_ ids: [ReceiptID]) -> [ReceiptID] {
    var seen: Set<ReceiptID> = []
    return ids.filter { seen.insert($0).inserted }
  }
}

extension ReceiptOutline {
  /// The receipts with these ids, any number of them, without duplicates; unknown ids are left out.
  static func all(_ ids: [ReceiptID], _ reader: StoreReader) throws -> [ReceiptOutline] {
    var found: [ReceiptOutline] = []
    var rest = ids[...]
    while !rest.isEmpty {
      found += try reader.outlines(ids: Array(rest.prefix(StoreReader.idsMax)))
      rest = rest.dropFirst(StoreReader.idsMax)
    }
    return found
  }
}
