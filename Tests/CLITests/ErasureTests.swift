// Tests that an erasure finds everything that names a user, and that what comes later is not stored.

import Config
import Domain
import Formats
import Platform
import PostgresStore
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@Suite("Everything that names a user", .everyPlace)
struct ErasureTests {
  /// All that identifies the user of `harness`.
  private static let personal = [
    "jane-77", "jane@example.com", "sub_jane_0001", "cs_jane_0001", "cus_jane_0001", "pi_jane_0001",
    "ch_jane_0001", "re_jane_0001", "in_jane_0001", "imp-jane-0001", "payer-jane", "evt_jane",
  ]

  private static let guest = """
    {"data":{"object":{"id":"cs_guest_0001","customer":null,"payment_intent":"pi_guest_0001",\
    "customer_details":{"email":"Guest@Example.com"}}}}
    """

  private static func object(_ members: String) -> String { #"{"data":{"object":{\#(members)}}}"# }

  private func event(_ id: EventID, _ body: String, _ content: IngestEvent.Content = .nothing(.ignored))
    -> IngestEvent
  {
    var event = IngestEvent(
      app: "ios", processor: "stripe", eventID: id, type: "any", body: Array(body.utf8), content: content)
    event.mentions = ProcessorRegistry.standard.mentions("stripe", in: Array(body.utf8))
    return event
  }

  private func report(_ id: String, customer: CustomerID?, user: String?) -> IngestEvent.Content {
    .report(
      PurchaseReport(
        key: PurchaseKey(
          processor: "stripe", type: PurchaseKey.ObjectType("subscription"), id: ObjectID("sub_\(id)")),
        sessionID: SessionID("cs_\(id)"), observations: .paid, customerID: customer, clientReference: user,
        prices: ["price_1"], happenedAt: Timestamp(unixMilliseconds: 1)), keep: true)
  }

  /// A user with a purchase, and with an event of each kind that only mentions the user.
  private func harness() throws -> (harness: OperatorHarness, context: String) {
    let harness = try OperatorHarness()
    let context = try harness.context("blob of jane", user: "jane-77")
    let session = Self.object(
      """
      "id":"cs_jane_0001","subscription":"sub_jane_0001","customer":"cus_jane_0001","invoice":"in_jane_0001",\
      "payment_intent":{"id":"pi_jane_0001"},"customer_details":{"email":"Jane@Example.com"}
      """)
    try harness.store(
      event("evt_jane_0", session, report("jane_0001", customer: "cus_jane_0001", user: "jane-77")))
    let loose = [
      // A guest's charge, and a refund that names only the charge.
      #""id":"re_jane_0001","charge":"ch_jane_0001""#,
      #""id":"ch_jane_0001","customer":null,"payment_intent":"pi_jane_0001","#
        + #""receipt_email":"jane@example.com""#,
      #""id":"cs_x","success_url":"https://example.com/back?ctx=\#(context)&x=1""#,
      #""id":"cs_y","metadata":{"ply_context_id":"\#(context)"}"#,
      #""id":"x","billing_details":{"email":" JANE@example.com"}"#,
      #""id":"in_jane_0001","lines":{"data":[{"metadata":{"user_id":"jane-77"}}]}"#,
      #""id":"cus_jane_0001","email":null"#,
      #""id":"card_1","customer":{"id":"cus_jane_0001"}"#,
    ]
    for (number, members) in loose.enumerated() {
      try harness.store(event("evt_jane_\(number + 1)", Self.object(members)))
    }
    try harness.store(event("evt_other", Self.object(#""id":"ch_other","customer":"cus_other""#)))
    var filters = [ReceiptFilter](repeating: ReceiptFilter(), count: 5)
    filters[0].customerID = "cus_jane_0001"
    filters[1].sessionID = "cs_jane_0001"
    filters[2].importID = "imp-jane-0001"
    filters[3].userID = "jane-77"
    filters[4].objectID = "sub_jane_0001"
    for filter in filters {
      try harness.store(
        StartJob(JobRequest(source: .filter(filter, limit: nil), actor: "ann", reason: "jane-77 called")))
    }
    let entries: [(subject: String?, reason: String?, details: JSONValue)] = [
      ("pi_jane_0001", "refunded", [:]), (nil, "asked by jane@example.com.", [:]),
      ("other", "kept", ["session": "cs_jane_0001"]), ("evt_jane_3", nil, [:]),
      ("other", "about jane-7", [:]),
    ]
    for entry in entries {
      try harness.store(
        WriteAudit(
          AuditEntry(
            at: harness.clock.now, actor: "ann", action: "x", app: "ios", subject: entry.subject,
            reason: entry.reason, details: entry.details.text)))
    }
    try harness.store(
      AcquirePayer("payer-jane", for: "jane-77", at: AppProcessor("ios", "swedbank"), "account"))
    let id = try #require(try harness.reader().receipts(ReceiptFilter(), limit: 1).first?.receipt?.id.text)
    try harness.attempt(id, status: 200, response: "jane", .delivered(importID: "imp-jane-0001"))
    // Another user's purchase, whose metadata name this one, too.
    let jack = PurchaseReport(
      key: PurchaseKey(processor: "stripe", type: PurchaseKey.ObjectType("subscription"), id: "sub_jack"),
      observations: .paid,
      names: [("jack", Purchase.UserSource.ownKey), ("jane-77", .metadata)].map {
        NamedUser(id: UserID($0.0), source: $0.1, standing: .counts)
      }, happenedAt: harness.clock.now)
    let metadata = #""ply_user_id":"jack","user_id":"jane-77","ctx":"\#(context)""#
    try harness.store(
      event(
        "evt_jack", Self.object(#""id":"sub_jack","latest_charge":"ch_jack","metadata":{\#(metadata)}"#),
        .report(jack, keep: true)))
    return (harness, context)
  }

  /// All columns of all tables.
  private func dump(_ harness: OperatorHarness) throws -> String {
    var text = ""
    guard let server = harness.server else {
      let file = try Connection(path: harness.databasePath, mode: .readOnly, busyTimeout: .seconds(1))
      for table in try names("SELECT name FROM sqlite_schema WHERE type = 'table'", file) {
        let columns = try names("SELECT name FROM pragma_table_info('\(table)')", file)
          .map { "coalesce(CAST(\($0) AS TEXT), '')" }.joined(separator: " || ' ' || ")
        text += try names("SELECT '\(table): ' || \(columns) FROM \(table)", file).joined(separator: "\n")
      }
      return text
    }
    let name = try #require(server.split(separator: "/").last?.prefix { $0 != "?" })
    let connection = try PostgresServer.shared.get().connect(String(name))
    func rows(_ sql: String) throws -> [String] {
      let result = try connection.run(sql)
      return (0..<result.count).map { result.text($0, 0) }
    }
    for table in try rows("SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()") {
      let columns = try rows(
        """
        SELECT CASE data_type WHEN 'bytea' THEN 'encode(' || column_name || ', ''escape'')'
          ELSE column_name || '::text' END
        FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = '\(table)'
        """
      ).map { "coalesce(\($0), '')" }.joined(separator: " || ' ' || ")
      text += try rows("SELECT '\(table): ' || \(columns) FROM \(table)").joined(separator: "\n")
    }
    return text
  }

  private func names(_ sql: String, _ connection: Connection) throws -> [String] {
    try connection.prepare(sql).all { row throws(SQLiteError) in String(decoding: row.blob(0), as: UTF8.self)
    }
  }

  @Test(
    "What only mentions a user was left by an erasure: events of a guest, jobs, the audit, a context's id")
  func erased() throws {
    let (harness, context) = try harness()
    let before = try dump(harness).lowercased()
    for text in Self.personal { #expect(before.contains(text), "\(text)") }
    let ran = harness.run("users", "forget", "jane-77", "--yes", "--cancel-open")
    #expect(ran.code == .done, "\(ran)")
    let after = try dump(harness).lowercased()
    for text in Self.personal + [context.lowercased()] { #expect(!after.contains(text), "\(text)") }
    let kept = ["evt_other", "cus_other", "about jane-7", "evt_jack", "ch_jack"]
    for text in kept { #expect(after.contains(text), "\(text)") }
    #expect(harness.run("find", "jane-77").code == .notFound)
    #expect(harness.run("find", "jack").code == .done)
    #expect(try harness.reader().integrityFaults() == [])
  }

  @Test func `What arrives after an erasure was stored whole`() throws {
    let (harness, _) = try harness()
    #expect(harness.run("users", "forget", "jane-77", "--yes", "--cancel-open").code == .done)
    let bodies = [
      #""id":"ch_jane_0001","payment_intent":"pi_new""#, #""id":"re_2","charge":"ch_jane_0001""#,
      #""id":"cus_jane_0001","email":"jane@example.com""#, #""id":"in_2","customer":"cus_jane_0001""#,
    ]
    for (number, members) in bodies.enumerated() {
      let later = event("evt_jane_later\(number)", Self.object(members))
      #expect(try harness.store(later) == .stored(.erased))
      #expect(try harness.store(later) == .repeated)
    }
    let unknown = PurchaseKey(processor: "stripe", type: PurchaseKey.ObjectType("subscription"), id: "sub_x")
    let renewal = event(
      "evt_jane_renewal", Self.object(#""id":"in_3","customer":"cus_jane_0001""#),
      .report(PurchaseReport(key: unknown, observations: [], happenedAt: harness.clock.now), keep: false))
    #expect(try harness.store(renewal) == .stored(.erased))
    #expect(try harness.store(event("evt_new", Self.object(#""id":"ch_new""#))) == .stored(.ignored))
    let dump = try dump(harness).lowercased()
    for text in Self.personal { #expect(!dump.contains(text), "\(text)") }
    // A customer who comes back is new, and the purchase counts.
    let back = event(
      "evt_back", Self.object(#""id":"cs_back""#), report("back", customer: "cus_jane_0001", user: "jane-77"))
    #expect(try harness.store(back) == .stored(.receipt))
  }

  @Test func `A guest, whom no id of the merchant names, is forgotten by an address or a customer`() throws {
    for option in [["--email", "guest@example.com"], ["--customer", "cus_guest"]] {
      let harness = try OperatorHarness()
      let customer: CustomerID? = option[0] == "--email" ? nil : "cus_guest"
      try harness.store(event("evt_guest_1", Self.guest, report("guest_0001", customer: customer, user: nil)))
      try harness.store(
        event("evt_guest_2", Self.object(#""id":"ch_guest_0001","payment_intent":"pi_guest_0001""#)))
      let ran = harness.run(arguments: ["users", "forget", "--yes", "--cancel-open"] + option)
      #expect(ran.code == .done, "\(ran)")
      let dump = try dump(harness).lowercased()
      for text in ["guest@", "cus_guest", "_guest_0001"] {
        #expect(!dump.contains(text), "\(option): \(text)")
      }
      let again = harness.run(arguments: ["users", "forget", "--yes"] + option)
      #expect(again.code == .notFound, "\(again)")
    }
  }

  @Test func `The user whom an address or a customer belongs to is forgotten; of two, none`() throws {
    let (harness, _) = try harness()
    try harness.store(
      event(
        "evt_john", Self.object(#""id":"cs_john_0001","customer_email":"jane@example.com""#),
        report("john_0001", customer: "cus_john", user: "john")))
    let both = harness.run("users", "forget", "--email", "jane@example.com", "--yes")
    #expect(both.code == .refused)
    #expect(both.notes.contains("jane-77, john"), "\(both)")
    let ran = harness.run("users", "forget", "--customer", "cus_jane_0001", "--yes", "--cancel-open")
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.notes.contains("is the user jane-77"), "\(ran)")
    #expect(harness.run("users", "show", "jane-77").code == .notFound)
    #expect(harness.run("users", "show", "john").code == .done)
    for wrong in [[], ["a", "--email", "a@b"], ["--email", "nobody"], ["--customer", ""]] {
      #expect(harness.run(arguments: ["users", "forget"] + wrong).code == .usage, "\(wrong)")
    }
  }

  @Test(.fileOnly)
  func `Earlier databases that a restore has set aside still have the data, and are named`() throws {
    let (harness, _) = try harness()
    let copy = harness.databasePath + ".before-restore-17"
    try FileWriting.create(copy, mode: 0o600)
    let ran = harness.run("users", "forget", "jane-77", "--yes", "--cancel-open", "--json")
    #expect(try ran.objects.first?["copies"] == ["FOLDER/receiptd.db.before-restore-17"])
    #expect(ran.notes.contains("receiptd.db.before-restore-17"))
  }
}
