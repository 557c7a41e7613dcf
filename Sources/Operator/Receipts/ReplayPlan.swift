// Which receipts a replay would take up: found before anything is changed, so that a person can look first.

internal import Domain
internal import JSON
internal import Relay
internal import Store
internal import Terminal

/// What a replay would do.
struct ReplayPlan {
  /// Oldest first: who has waited longest goes first.
  var chosen: [ReceiptOutline] = []
  /// What is not taken up, and why.
  var refused: [(receipt: ReceiptOutline, why: String)] = []

  /// Rows that one question reads.
  static let slice = 1000

  /// Finds the receipts that the command names.
  init(_ session: Session, _ configuration: Configuration, _ reader: StoreReader) throws {
    let ids = session.command.positionals
    let given = ReceiptsNoun.filterNames.filter(session.command.options.contains)
    let found: [ReceiptOutline]
    if !ids.isEmpty {
      guard given.isEmpty else {
        throw session.usage("name receipts by id, or choose them with filters, not both")
      }
      found = try Self.named(ids, reader)
    } else {
      guard session.command.options.contains("state") else {
        throw session.usage("say which: ids, or --state with more filters, such as --state failed")
      }
      found = try Self.matching(ReceiptsNoun.filter(session, session.app(configuration)), session, reader)
    }
    let isForced = session.command.flag("force")
    for receipt in found.sorted(by: { $0.id < $1.id }) {
      if receipt.state == .delivered && !isForced {
        refused.append((receipt, "is delivered already; --force sends it again"))
      } else if configuration.app(receipt.app) == nil {
        refused.append(
          (receipt, "is of the app '\(DisplayText.clean(receipt.app))', which is not configured"))
      } else {
        chosen.append(receipt)
      }
    }
  }

  private static func named(_ ids: [String], _ reader: StoreReader) throws -> [ReceiptOutline] {
    let found = try ReceiptOutline.all(ids, reader)
    let known = Set(found.map(\.id))
    let unknown = ids.filter { !known.contains($0) }
    guard unknown.isEmpty else { throw ReceiptsNoun.unknown(unknown) }
    return found
  }

  private static func matching(
    _ filter: ReceiptFilter, _ session: Session, _ reader: StoreReader
  ) throws -> [ReceiptOutline] {
    let limit = try session.command.integer("limit", in: 1...Int(Int32.max)) ?? Int(Int32.max)
    var filter = filter
    var found: [ReceiptOutline] = []
    while found.count < limit {
      let page = try reader.outlines(filter, limit: min(slice, limit - found.count))
      found += page
      guard page.count == slice, let last = page.last else { break }
      filter.after = last.id
    }
    return found
  }

  /// Receipts of one state and reason.
  struct Group {
    var state: ReceiptState
    var reason: Reason?
    var count = 0
    var oldest: Timestamp
    var newest: Timestamp
  }

  /// The chosen ones by state and reason, the largest group first.
  var groups: [Group] {
    var groups: [String: Group] = [:]
    for receipt in chosen {
      let key = "\(receipt.state.rawValue) \(receipt.reason?.text ?? "")"
      var group =
        groups[key]
        ?? Group(
          state: receipt.state, reason: receipt.reason, oldest: receipt.createdAt, newest: receipt.createdAt)
      group.count += 1
      group.oldest = min(group.oldest, receipt.createdAt)
      group.newest = max(group.newest, receipt.createdAt)
      groups[key] = group
    }
    return groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.value)
  }

  func table(_ session: Session) -> Table {
    var table = Table(
      [
        .init("STATE"), .init("REASON"), .init("COUNT", alignment: .trailing), .init("OLDEST"),
        .init("NEWEST"),
      ], emptyMessage: "No receipts to replay.")
    for group in groups {
      table.add([
        Table.Cell(group.state.rawValue, group.state.style), Table.Cell(group.reason?.text ?? "-"),
        Table.Cell(String(group.count)), Table.Cell(session.relative(group.oldest)),
        Table.Cell(session.relative(group.newest)),
      ])
    }
    return table
  }

  var json: JSONValue {
    [
      "replayed": 0, "ids": [], "would_replay": .integer(Int64(chosen.count)),
      "refused": .integer(Int64(refused.count)),
      "groups": .array(
        groups.map { group in
          [
            "state": .string(group.state.rawValue), "reason": .optional(group.reason?.text),
            "count": .integer(Int64(group.count)), "oldest_at": .time(group.oldest),
            "newest_at": .time(group.newest),
          ]
        }),
    ]
  }
}

extension ReceiptOutline {
  /// The receipts with these ids, however many; each once, unknown ones left out.
  static func all(_ ids: [String], _ reader: StoreReader) throws -> [ReceiptOutline] {
    var found: [ReceiptOutline] = []
    var rest = Array(Set(ids))[...]
    while !rest.isEmpty {
      found += try reader.outlines(ids: Array(rest.prefix(StoreReader.idsMax)))
      rest = rest.dropFirst(StoreReader.idsMax)
    }
    return found
  }
}
