import Cryptography
import Domain
import Formats
import Platform
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@Suite("Users", .everyPlace)
struct UserTests {
  private func harness() throws -> OperatorHarness {
    let harness = try OperatorHarness()
    try harness.context("blob", price: "price_1")
    try harness.deliver(try harness.purchase("sub_1"))
    harness.clock.advance(.seconds(60))
    try harness.fail(try harness.purchase("sub_2"))
    try harness.context("unused one")
    return harness
  }

  @Test func `users show has all data of a user`() throws {
    let harness = try harness()
    Snapshot.check(harness.run("users", "show", "jdo-1").out, "users-show")
    let object = try #require(try harness.run("users", "show", "jdo-1", "--json").objects.first)
    #expect(object["user_id"] == "jdo-1")
    #expect(object["app"] == "ios")
    for list in ["receipts", "contexts"] {
      guard case .array(let entries)? = object[list] else {
        Issue.record("\(list) is no list")
        continue
      }
      #expect(entries.count == 2)
    }
    let unknown = harness.run("users", "show", "nobody")
    #expect(unknown.code == .notFound)
    #expect(unknown.notes.contains("nothing is known of nobody"))
  }

  @Test(.fileOnly)
  func `users show --json says that it lacks the older entries of an id that many users share`() throws {
    let harness = try harness()
    var random = SeededGenerator(seed: 1)
    let posts = (1...10_000).map { number in
      IngestContext(
        app: "ios", userID: "shared", blob: ContextBlob(text: "blob \(number)", priceID: nil),
        id: ContextID.make(now: harness.clock.now, random: &random))
    }
    try harness.store(CommandList(posts))
    let whole = harness.run("users", "show", "shared", "--json")
    #expect(whole.code == .done)
    #expect(try whole.objects.count == 1)
    try harness.context("one more", user: "shared")
    let cut = harness.run("users", "show", "shared", "--json")
    #expect(cut.code == .partly)
    #expect(try cut.objects.last == ["compared": 10_000, "complete": false])
    #expect(cut.notes.contains("receiptctl receipts list --user shared --all --json"))
  }

  @Test func `A forgotten user is in no list, and the audit names the operator`() throws {
    let harness = try harness()
    let look = harness.run("users", "forget", "jdo-1", "--dry-run")
    #expect(look.code == .done)
    #expect(look.notes.contains("Nothing was changed."))
    #expect(harness.run("users", "forget", "jdo-1").code == .refused, "nobody can be asked")
    let ran = harness.run("users", "forget", "jdo-1", "--yes", "--json", "--reason", "request 17")
    let object = try #require(try ran.objects.first)
    #expect(ran.code == .done)
    #expect(object["receipts"] == 2)
    #expect(object["contexts"] == 2)
    #expect(harness.run("users", "show", "jdo-1").code == .notFound)
    #expect(harness.run("receipts", "list", "--user", "jdo-1").out.contains("No receipts"))
    #expect(try harness.reader().integrityFaults() == [])
    let audit = try #require(try harness.run("audit", "list", "--json").objects.first)
    #expect(audit["action"] == "users forget")
    #expect(audit["reason"] == "request 17")
    #expect(audit["subject"]?.stringValue?.hasPrefix(Purchase.erasedPrefix) == true)
    #expect(!harness.run("audit", "list").out.contains("jdo-1"))
  }

  @Test("A user of whom only a payer is left is shown and forgotten, and the payer stays the user's")
  func payer() throws {
    let harness = try OperatorHarness()
    let place = AppProcessor("ios", "swedbank")
    let command = AcquirePayer("payer-of-jane", for: "jane", at: place)
    #expect(try harness.writer.apply(command, now: harness.clock.now))
    #expect(harness.run("users", "show", "jane").out.contains("payer-of-jane"))
    let look = try harness.run("users", "forget", "jane", "--dry-run", "--json").objects.first
    let found: JSONValue = [
      "app": "ios", "contexts": 0, "events": 0, "open": 0, "payers": 1, "purchases_without_receipt": 0,
      "receipts": 0, "sent_for_others": 0,
    ]
    #expect(look?["would_forget"] == [found])
    let ran = try #require(try harness.run("users", "forget", "jane", "--yes", "--json").objects.first)
    #expect(ran["payers"] == 1)
    #expect(ran["left_capturing"] == 0)
    #expect(ran["left_held"] == 0)
    #expect(harness.run("users", "show", "jane").code == .notFound)
    #expect(try harness.reader().belongs("payer-of-jane", to: "jane", at: place) == true)
    #expect(try harness.reader().belongs("payer-of-jane", to: "john", at: place) == false)
  }

  @Test("The preview of an erasure did not count what a receipt of the user corrected, nor its events")
  func corrected() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", user: "cara")
    try harness.deliver(id)
    #expect(
      harness.run("receipts", "correct", id, "--user", "dora", "--yes", "--why", "wrong").code == .done)
    let correction = try #require(try harness.receipt(id).correctedBy)
    try harness.deliver(correction.text, importID: "imp-2")
    let look = harness.run("users", "forget", "dora", "--dry-run")
    #expect(look.notes.contains("ios         2     0         0       1"), "\(look.notes)")
    #expect(look.notes.contains("Of these, 1 receipt was sent for cara and corrected."), "\(look.notes)")
    let plan = try harness.run("users", "forget", "dora", "--dry-run", "--json").objects
    guard case .array(let parts)? = plan.first?["would_forget"] else {
      Issue.record("no plan: \(plan)")
      return
    }
    let done = try #require(try harness.run("users", "forget", "dora", "--yes", "--json").objects.first)
    #expect(parts.first?["sent_for_others"] == 1)
    for name in ["receipts", "events", "contexts", "purchases_without_receipt"] {
      #expect(parts.first?[name] == done[name], "\(name)")
    }
    #expect(done["receipts"] == 2)
    #expect(harness.run("users", "show", "cara").code == .notFound)
    #expect(try harness.reader().integrityFaults() == [])
  }

  @Test("A purchase without a user of a customer whom two users share stays with the other one")
  func sharedCustomer() throws {
    let harness = try OperatorHarness()
    for (number, user) in [nil, "jdo-1", "jdo-2"].enumerated() {
      let report = PurchaseReport(
        key: PurchaseKey(
          processor: "stripe", type: PurchaseKey.ObjectType("subscription"), id: ObjectID("sub_\(number)")),
        observations: user == nil ? .began : .paid, customerID: "cus_1", clientReference: user,
        prices: ["price_1"], happenedAt: harness.clock.now)
      try harness.store(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: EventID("evt_x\(number)"), type: "invoice.paid",
          body: Array("{}".utf8), content: .report(report, keep: true)))
    }
    let ran = harness.run("users", "forget", "jdo-1", "--yes", "--cancel-open")
    #expect(ran.code == .done, "\(ran)")
    let line = "Not 1 purchase without a user: the customer (cus_1) has other users, too."
    #expect(ran.notes.contains(line), "\(ran.notes)")
    #expect(ran.out.hasPrefix("Erased 1 receipt (1 cancelled), 0 contexts"), "\(ran.out)")
    let last = harness.run("users", "forget", "jdo-2", "--yes", "--cancel-open")
    #expect(last.out.contains("1 purchase without a receipt"), "\(last.out)")
  }

  @Test func `The preview counts purchases without a receipt, which are erased, too`() throws {
    let harness = try OperatorHarness()
    for (number, user) in [nil, "jdo-1"].enumerated() {
      let report = PurchaseReport(
        key: PurchaseKey(
          processor: "stripe", type: PurchaseKey.ObjectType("subscription"), id: ObjectID("sub_\(number)")),
        observations: user == nil ? .began : .paid, customerID: "cus_1", clientReference: user,
        prices: ["price_1"], happenedAt: harness.clock.now)
      try harness.store(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: EventID("evt_x\(number)"), type: "invoice.paid",
          body: Array("{}".utf8), content: .report(report, keep: true)))
    }
    let look = harness.run("users", "forget", "jdo-1", "--dry-run")
    #expect(look.notes.contains("Also 1 purchase without a receipt."), "\(look.notes)")
    let ran = harness.run("users", "forget", "jdo-1", "--yes", "--cancel-open")
    #expect(ran.out.hasPrefix("Erased 1 receipt (1 cancelled), 1 purchase without a receipt, "), "\(ran.out)")
  }

  @Test func `Pending receipts are not erased without --cancel-open`() throws {
    let harness = try harness()
    let id = try harness.purchase("sub_3")
    let look = harness.run("users", "forget", "jdo-1", "--dry-run")
    #expect(look.notes.contains("still to be delivered (\(id)), so nothing is erased; wait for that"))
    #expect(!harness.run("users", "forget", "jdo-1", "--dry-run", "--cancel-open").notes.contains("wait for"))
    let ran = harness.run("users", "forget", "jdo-1", "--yes")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains(id))
    #expect(ran.notes.contains("--cancel-open"))
    #expect(try harness.receipt(id).state == .pending)
    #expect(harness.run("users", "forget", "jdo-1", "--yes", "--cancel-open").code == .done)
    #expect(try harness.receipt(id).state == .cancelled)
  }

  @Test func `Events without a purchase are found by their content, and other events stay`() throws {
    let harness = try harness()
    let bodies = [
      #"{"data":{"object":{"client_reference_id":"jdo-1"}}}"#,
      #"{"data":{"object":{"metadata":{"some_key":"jdo-1"}}}}"#,
      #"{"data":{"object":{"subscription":"sub_2"}}}"#,
      #"{"data":{"object":{"description":"jdo-1"}}}"#,
      #"{"data":{"object":{"client_reference_id":"jdo-12"}}}"#,
    ]
    for (number, body) in bodies.enumerated() {
      let event = IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_loose\(number)", type: "invoice.paid",
        body: Array(body.utf8), content: .nothing(.ignored))
      _ = try harness.writer.apply(event, now: harness.clock.now)
    }
    let ran = harness.run("users", "forget", "jdo-1", "--yes")
    #expect(ran.code == .done)
    let reader = try harness.reader()
    for number in 0..<3 { #expect(try reader.events(id: "evt_loose\(number)").isEmpty) }
    for number in 3..<5 { #expect(try reader.events(id: "evt_loose\(number)").count == 1) }
  }

  @Test(.fileOnly)
  func `An event that cannot be read is named, and all that can be erased is erased`() throws {
    let harness = try harness()
    for (number, user) in ["jdo-1", "someone"].enumerated() {
      let event = IngestEvent(
        app: "ios", processor: "stripe", eventID: EventID("evt_loose\(number)"), type: "invoice.paid",
        body: Array(#"{"data":{"object":{"client_reference_id":"\#(user)"}}}"#.utf8),
        content: .nothing(.ignored))
      _ = try harness.writer.apply(event, now: harness.clock.now)
    }
    let connection = try Connection(path: harness.databasePath, mode: .readWrite, busyTimeout: .seconds(1))
    try connection.execute("UPDATE events SET dictionary = 99 WHERE event_id = 'evt_loose1'")
    let ran = harness.run("users", "forget", "jdo-1", "--yes")
    #expect(ran.code == .partly, "\(ran)")
    #expect(ran.notes.contains("(evt_loose1) cannot be read and may be about this user: "), "\(ran)")
    #expect(ran.notes.contains("dictionary 99"), "\(ran)")
    #expect(try harness.reader().events(id: "evt_loose0").isEmpty)
  }

  @Test func `A user who is known only from events is found in every app and forgotten`() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    for app: AppSlug in ["ios", "web"] {
      let body = #"{"data":{"object":{"client_reference_id":"loose-1","email":"a@example.com"}}}"#
      let event = IngestEvent(
        app: app, processor: "stripe", eventID: "evt_\(app)", type: "checkout.session.expired",
        body: Array(body.utf8), content: .nothing(.otherMode))
      _ = try harness.writer.apply(event, now: harness.clock.now)
    }
    #expect(harness.run("users", "forget", "nobody", "--yes").code == .notFound)
    let ran = harness.run("users", "forget", "loose-1", "--yes", "--app", "web", "--json")
    #expect(ran.code == .done)
    #expect(try ran.objects.first?["events"] == 1)
    #expect(try harness.reader().events(id: "evt_ios").count == 1)
    #expect(harness.run("users", "forget", "loose-1", "--yes").code == .done)
    #expect(try harness.reader().events(id: "evt_ios").isEmpty)
  }

  @Test(arguments: [200, 429, 401])
  func `The request to Purchasely has a signature over its exact bytes`(status: Int) throws {
    let seen = Monitor<[String]>([])
    let server = try ScriptedServer { connection in
      while let request = connection.readRequest() {
        seen.update { $0.append(request) }
        connection.answer("\(status) Answer", #"{"id":"0000-1111"}"#)
      }
    }
    defer { server.stop() }
    let harness = try harness()
    try harness.configure { text in
      text.replacing(
        "api_key: 'env:API_KEY'",
        with: "api_key: 'env:API_KEY', url: 'http://127.0.0.1:\(server.port)/receipts', "
          + "client_secret: 'env:CLIENT_SECRET'")
    }
    let environment = ["API_KEY": "the-key", "CLIENT_SECRET": "shared"]
    let ran = harness.run("users", "forget", "jdo-1", "--yes", "--ask-purchasely", environment: environment)
    #expect(ran.code == (status == 200 ? .done : .partly))
    let request = try #require(seen.withLock { $0.first })
    #expect(request.hasPrefix("POST /user_deletion_requests HTTP/1.1\r\n"))
    let body = #"{"user_id":"jdo-1"}"#
    let signature = Hex.encode(
      try HMACSHA256(key: Array("shared".utf8)).authenticationCode(for: Array(body.utf8)))
    #expect(request.hasSuffix("\r\n\r\n\(body)"))
    #expect(request.contains("Authorization: \(signature)\r\n"))
    #expect(request.contains("X-API-KEY: the-key\r\n"))
    switch status {
    case 200: #expect(ran.out.contains("0000-1111"))
    case 429: #expect(ran.notes.contains("in ten minutes"))
    default: #expect(ran.notes.contains("client_secret"))
    }
    for text in [ran.out, ran.notes] {
      #expect(!text.contains("shared\""))
      #expect(!text.contains("the-key"))
    }
  }

  @Test func `Without the secret nothing is changed`() throws {
    let harness = try harness()
    let ran = harness.run(
      "users", "forget", "jdo-1", "--yes", "--ask-purchasely", environment: ["API_KEY": "k"])
    #expect(ran.code == .configuration)
    #expect(ran.notes.contains("apps.ios.purchasely.client_secret"))
    #expect(harness.run("users", "show", "jdo-1").code == .done)
  }
}
