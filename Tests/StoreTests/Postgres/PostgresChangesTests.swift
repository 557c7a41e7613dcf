// Tests which changes become one statement, and that none passes another on which it depends.

import Domain
import Store
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Joined changes")
struct PostgresChangesTests {
  private static let purchase = "INSERT INTO purchases (row_id, app) VALUES (?1, 'ios')"
  private static let event = "INSERT INTO events (purchase_row) VALUES (?1)"
  private static let deliver = "UPDATE purchases SET state = ?2 WHERE row_id = ?1"
  private static let wait = "UPDATE purchases SET wait_until = ?2 WHERE row_id = ?1"
  private static let count = """
    INSERT INTO counts (app, kind, count) VALUES (?1, ?2, ?3)
      ON CONFLICT (app, kind) DO UPDATE SET count = counts.count + excluded.count
    """
  private static let reset = count.replacing("counts.count + ", with: "")
  private static let rename = "UPDATE purchases SET object_id = ?2 WHERE row_id = ?1"

  /// What is sent for these changes, as the first word and the table of each with its number of rows.
  private func sent(_ changes: [(String, [StoreValue])]) -> [String] {
    var queue = PostgresChanges()
    for (sql, values) in changes {
      let translation = SQLTranslation(sql)
      if let change = RowChange(sql, translation) {
        queue.add(change, values)
      } else {
        queue.add(translation.command(values), to: translation.changedTable)
      }
    }
    return queue.removeAll().map { command in
      let words = command.sql.split(separator: " ").prefix(5)
      let name = words.contains("INSERT") ? words[2] : words.contains("DELETE") ? "-" + words[2] : words[3]
      var rows = 1
      if case .array(_, let values) = command.values.first { rows = values.count }
      return "\(name) \(rows)"
    }
  }

  @Test func `Purchases, their events and outcomes of others are three statements`() {
    let changes = (1...3).flatMap { number -> [(String, [StoreValue])] in
      let row = StoreValue.integer(Int64(number))
      return [
        (Self.purchase, [row]), (Self.event, [row]),
        (Self.deliver, [.integer(Int64(100 + number)), "delivered"]),
      ]
    }
    #expect(sent(changes) == ["purchases 3", "events 3", "state 3"])
  }

  @Test func `A row that is changed twice needs two statements, in their order`() {
    #expect(
      sent([(Self.deliver, [1, "a"]), (Self.deliver, [2, "a"]), (Self.deliver, [1, "b"])]) == [
        "state 2", "state 1",
      ])
    #expect(
      sent([(Self.deliver, [1, "a"]), (Self.wait, [1, 5]), (Self.wait, [2, 5]), (Self.deliver, [2, "b"])])
        == ["state 1", "wait_until 2", "state 1"])
    #expect(
      sent([(Self.deliver, [1, "a"]), (Self.wait, [2, 5]), (Self.deliver, [3, "b"])])
        == ["state 2", "wait_until 1"])
  }

  @Test func `Counts are one statement; one that is changed twice needs two, in their order`() {
    #expect(
      sent([
        (Self.count, ["ios", "a", 1]), (Self.count, ["ios", "b", 1]), (Self.count, ["web", "a", 1]),
        (Self.count, ["ios", "a", 2]), (Self.count, ["web", "b", 1]),
      ]) == ["counts 3", "counts 2"])
    #expect(
      sent([
        (Self.count, ["ios", "a", 1]), (Self.reset, ["web", "a", 1]), (Self.count, ["web", "b", 1]),
      ]) == ["counts 1", "counts 1", "counts 1"])
    // PostgreSQL stores no U+0000, so they are one row.
    #expect(
      sent([(Self.count, ["ios", "\u{FFFD}", 1]), (Self.count, ["ios", "\0", 1])])
        == ["counts 1", "counts 1"])
  }

  @Test func `A row is changed after it was inserted`() {
    #expect(
      sent([(Self.deliver, [1, "a"]), (Self.purchase, [2]), (Self.deliver, [2, "b"]), (Self.purchase, [3])])
        == ["state 1", "purchases 2", "state 1"])
  }

  @Test func `An event is inserted after its purchase, also if one without a purchase was first`() {
    #expect(
      sent([
        (Self.event, [.null]), (Self.purchase, [1]), (Self.event, [1]), (Self.purchase, [2]),
        (Self.event, [2]),
      ])
        == ["events 1", "purchases 2", "events 2"])
  }

  @Test func `Nothing passes a change of other rows, of a unique column, or of an unknown table`() {
    let delete = "DELETE FROM purchases WHERE app = ?1"
    let other = "UPDATE jobs SET note = 'x' WHERE EXISTS (SELECT 1 FROM purchases)"
    for (barrier, values, name): (String, [StoreValue], String) in [
      (delete, ["ios"], "-purchases 1"), (Self.rename, [1, "x"], "object_id 1"), (other, [], "note 1"),
    ] {
      #expect(
        sent([
          (Self.purchase, [1]), (Self.event, [1]), (barrier, values), (Self.purchase, [2]), (Self.event, [2]),
        ])
          == ["purchases 1", "events 1", name, "purchases 1", "events 1"])
    }
  }

  @Test(.enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
  func `The lists of references and of unique columns are those of the schema`() throws {
    let folder = "changes-\(UInt64.random(in: 0 ... .max))"
    defer { PostgresDatabases.remove(folder) }
    let engine = try PostgresEngine(
      PostgresServer.shared.get().url(PostgresDatabases.name(of: folder)), isOwner: true,
      application: "tests",
      allowsUnsafe: true, usesServerClock: false)
    let connection = try engine.connect(.writer)
    _ = try StoreWriter(StoreConnection(connection), rules: TestStore.rules, upkeep: NoUpkeep())
    let references = try connection.run(
      PostgresCommand(
        """
        SELECT DISTINCT confrelid::regclass::text, conrelid::regclass::text FROM pg_constraint
        WHERE contype = 'f'
        """))
    var referring: [String: Set<String>] = [:]
    for row in 0..<references.count {
      referring[references.text(row, 0), default: []].insert(references.text(row, 1))
    }
    #expect(PostgresChanges.referring.mapValues(Set.init) == referring)
    let indexes = try connection.run(
      PostgresCommand(
        """
        SELECT indrelid::regclass::text, attname::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid
          AND attnum = ANY(indkey) WHERE indisunique AND indrelid::regclass::text = ANY($1)
        """, [.texts(PostgresChanges.unique.keys.sorted())]))
    var unique: [String: Set<String>] = [:]
    for row in 0..<indexes.count { unique[indexes.text(row, 0), default: []].insert(indexes.text(row, 1)) }
    #expect(PostgresChanges.unique.mapValues(Set.init) == unique)
  }
}
