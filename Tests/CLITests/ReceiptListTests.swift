import Domain
import Formats
import Terminal
import Testing

@Suite(.everyPlace) struct ReceiptListTests {
  private static let fields = [
    "id", "app", "state", "reason", "user_id", "processor", "object_type", "object_id", "price_id",
    "price_mismatch",
    "context_disputed", "context_id", "import_id", "attempts", "last_status", "last_cause", "created_at",
    "ready_at", "next_attempt_at", "delivered_at", "updated_at", "user_conflict", "corrects", "corrected_by",
    "destination", "copy_of", "copied_by",
  ]

  private static func names(_ value: JSONValue) -> [String] {
    guard case .object(let members) = value else { return [] }
    return members.map(\.name)
  }

  /// One receipt in each state.
  static func everyState() throws -> OperatorHarness {
    let harness = try OperatorHarness()
    try harness.context("e30=", price: "price_1")
    harness.clock.advance(.seconds(1))
    try harness.deliver(harness.purchase("sub_delivered"))
    harness.clock.advance(.seconds(60))
    try harness.fail(harness.purchase("sub_failed", user: "ann"))
    harness.clock.advance(.seconds(60))
    try harness.purchase("sub_waiting", user: nil)
    harness.clock.advance(.seconds(60))
    try harness.purchase("sub_pending", user: "bob")
    harness.clock.advance(.seconds(60))
    let cancelled = try harness.purchase("sub_cancelled", user: "cat")
    #expect(harness.run("receipts", "cancel", cancelled, "--why", "a test").code == .done)
    harness.clock.advance(.hours(1))
    return harness
  }

  @Test func aTableForPeople() throws {
    let ran = try Self.everyState().run("receipts", "list")
    #expect(ran.code == .done)
    #expect(ran.notes == "")
    Snapshot.check(ran.out, "receipts-list")
  }

  @Test(.fileOnly) func theFieldsOfJSONAreThoseOfTheContract() throws {
    let ran = try Self.everyState().run("receipts", "list", "--json")
    let objects = try ran.objects
    #expect(objects.count == 5)
    // The decoder sorts names, so the order is checked in the text.
    for (line, object) in zip(ran.out.split(separator: "\n"), objects) {
      #expect(Self.names(object) == Self.fields.sorted())
      let places = Self.fields.compactMap { line.firstRange(of: "\"\($0)\":")?.lowerBound }
      #expect(places.count == Self.fields.count)
      #expect(places == places.sorted())
    }
    Snapshot.check(ran.out, "receipts-list-json")
  }

  @Test func whatIsAbsentIsNull() throws {
    let harness = try OperatorHarness()
    try harness.purchase("sub_1", user: nil, price: nil)
    let object = try #require(try harness.run("receipts", "list", "--json").objects.first)
    for name in ["user_id", "price_id", "context_id", "import_id", "last_status", "ready_at", "delivered_at"]
    {
      #expect(object[name] == .null)
    }
    #expect(object["reason"] == "user")
    #expect(object["price_mismatch"] == false)
  }

  @Test(
    arguments: [
      (["--state", "failed"], ["sub_failed"]), (["--user", "bob"], ["sub_pending"]),
      (["--reason", "user"], ["sub_waiting"]), (["--object", "sub_delivered"], ["sub_delivered"]),
      (["--import-id", "imp-1"], ["sub_delivered"]), (["--id", "sub_delivered"], ["sub_delivered"]),
      (["--state", "failed", "--state", "pending"], ["sub_pending", "sub_failed"]),
      (["--state", "failed", "--state", "pending", "--limit", "1"], ["sub_pending"]),
      (["--state", "failed", "--state", "waiting", "--state", "failed", "--user", "ann"], ["sub_failed"]),
      (["--id", "imp-1"], ["sub_delivered"]), (["--id", "cs_sub_failed"], ["sub_failed"]),
      (["--id", "imp-1", "--state", "failed"], []), (["--id", "sub_unknown"], []),
      (["--since", "2026-11-20T10:03:00Z"], ["sub_cancelled", "sub_pending"]),
      (["--until", "2026-11-20T10:01:00Z"], ["sub_delivered"]),
      (["--state", "failed", "--user", "bob"], []),
    ])
  func filtersRestrict(options: [String], objects: [String]) throws {
    let harness = try Self.everyState()
    let ran = harness.run(arguments: ["receipts", "list", "--json"] + options)
    #expect(ran.code == .done)
    #expect(try ran.objects.map { $0["object_id"]?.stringValue } == objects)
  }

  @Test func `A list of several states continues where its page ended, without a gap`() throws {
    let harness = try Self.everyState()
    let states = ["failed", "waiting", "pending", "delivered", "cancelled"].flatMap { ["--state", $0] }
    let list = ["receipts", "list", "--json", "--limit", "2"] + states
    var found: [String?] = []
    var page = try harness.run(arguments: list).objects
    while let last = page.last?["id"]?.stringValue, found.count < 10 {
      found += page.map { $0["object_id"]?.stringValue }
      page = try harness.run(arguments: list + ["--after", last]).objects
    }
    let all = try harness.run("receipts", "list", "--json").objects.map { $0["object_id"]?.stringValue }
    #expect(found == all)
  }

  @Test(
    "`--reason 422`, which no receipt can have, is refused with a suggestion",
    arguments: [
      ("422", "http_422"), ("HTTP 422", "http_422"), ("http422", "http_422"), ("http-503", "http_503"),
      ("gaveup", "gave_up"), ("gave-up", "gave_up"), ("Price", "price"), ("xyzzy", nil), ("", nil),
      ("http_42", nil), ("http_4222", nil), ("http_999", nil), ("http_+42", nil),
    ] as [(String, String?)])
  func anImpossibleReasonIsRefused(reason: String, meant: String?) throws {
    let harness = try OperatorHarness()
    let verbs = [
      ["list"], ["replay", "--state", "failed"], ["cancel", "--state", "failed", "--why", "x"],
      ["complete", "--state", "failed", "--price", "price_1"],
    ]
    for verb in verbs {
      let ran = harness.run(arguments: ["receipts"] + verb + ["--reason", reason])
      #expect(ran.code == .usage)
      #expect(ran.out == "")
      #expect(ran.notes.contains("no receipt can have the reason '\(reason)'; "))
      #expect(ran.notes.firstMatch(of: /did you mean (\S+)\?/).map { String($0.1) } == meant)
      #expect(ran.notes.contains("gave_up"))
      #expect(ran.notes.contains("http_NNN"))
    }
    if let meant {
      #expect(harness.run("receipts", "list", "--reason", meant).code == .done)
    }
  }

  @Test func eachPageSaysHowToGetTheNext() throws {
    let harness = try OperatorHarness()
    for number in 1...5 {
      harness.clock.advance(.seconds(1))
      try harness.purchase("sub_\(number)", user: "it's me")
    }
    var seen: [String] = []
    let arguments = ["receipts", "list", "--user", "it's me", "--since", "1h", "--limit", "2", "--json"]
    var after: [String] = []
    for _ in 0..<3 {
      let ran = harness.run(arguments: arguments + after)
      let page = try ran.objects
      seen += page.compactMap { $0["object_id"]?.stringValue }
      guard let last = page.last?["id"]?.stringValue, page.count == 2 else {
        #expect(ran.notes == "")
        break
      }
      #expect(
        ran.notes == """
          More: receiptctl receipts list --user 'it'\\''s me' --since 2026-11-20T09:00:05.000Z --limit 2 \
          --config FOLDER/receiptd.json5 --json --after \(last)

          """)
      after = ["--after", last]
    }
    #expect(seen == ["sub_5", "sub_4", "sub_3", "sub_2", "sub_1"])
  }

  @Test func nothingIsSaidToBeNothing() throws {
    let harness = try OperatorHarness()
    #expect(harness.run("receipts", "list").out == "No receipts.\n")
    #expect(harness.run("receipts", "list", "--json").out == "")
    let other = harness.run("receipts", "list", "--app", "iso")
    #expect(other.code == .notFound)
    #expect(other.notes == "receiptctl: there is no app 'iso' in the configuration; did you mean 'ios'?\n")
  }

  @Test func whatComesFromOutsideObeysNoTerminal() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", user: "a\u{202E}b\u{2028}c")
    for line in [harness.run("receipts", "list").out, harness.run("receipts", "show", id).out] {
      #expect(line.contains("a\u{FFFD}b c"))
    }
  }

  @Test("`receipts show --json` has the session and the customer")
  func theJSONOfOneHasItsSessionAndCustomer() throws {
    let harness = try OperatorHarness()
    let object = try #require(
      try harness.run("receipts", "show", harness.purchase("sub_1"), "--json").objects.first)
    #expect(object["session_id"] == "cs_sub_1")
    #expect(object["customer_id"] == .null)
  }

  @Test func `A paused receipt names the attempts that do not count`() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    func attempts() -> Substring? {
      harness.run("receipts", "show", id).out.firstMatch(of: /attempts  (.*)\n/)?.1
    }
    #expect(attempts() == "0")
    try harness.attempt(id, status: 403, .retry(at: harness.clock.now, spent: false))
    #expect(attempts() == "1 (it does not count: the deliveries were stopped), the last answer was 403")
    #expect(harness.run("receipts", "show", id).out.contains("attempt 1"))
    try harness.attempt(id, status: 403, .retry(at: harness.clock.now, spent: false))
    #expect(attempts()?.hasPrefix("2 (they do not count: ") == true)
    try harness.deliver(id)
    #expect(attempts() == "3 (2 of them do not count: the deliveries were stopped), the last answer was 200")
  }

  @Test(.fileOnly) func aReceiptIsShownAsItsStory() throws {
    let harness = try OperatorHarness()
    let context = try harness.context("e30=", price: "monthly")
    harness.clock.advance(.seconds(2))
    let id = try harness.purchase("sub_1")
    try harness.attempt(id, status: nil, .retry(at: harness.clock.now, spent: true), error: "timeout")
    harness.clock.advance(.seconds(2))
    try harness.fail(id)
    harness.clock.advance(.hours(1))
    #expect(harness.run("receipts", "replay", id, "--yes").code == .done)
    harness.clock.advance(.milliseconds(500))
    try harness.deliver(id, importID: "00001111-2222")
    harness.clock.advance(.minutes(2))
    let ran = harness.run("receipts", "show", id)
    #expect(ran.code == .done)
    Snapshot.check(ran.out, "receipts-show")

    let object = try #require(try harness.run("receipts", "show", id, "--json").objects.first)
    #expect(
      Self.names(object)
        == (Self.fields
        + [
          "session_id", "customer_id", "names", "ply_context", "payment", "captures", "lookup", "near_misses",
          "attempt_log",
          "events",
          "changes", "jobs",
        ]).sorted())
    #expect(object["context_id"]?.stringValue == context)
    #expect(object["ply_context"] == "e30=")
    #expect(object["price_mismatch"] == true)
    guard case .array(let log) = object["attempt_log"], case .array(let events) = object["events"] else {
      Issue.record("no lists in \(object)")
      return
    }
    #expect(log.map { $0["number"] } == [1, 2, 3])
    #expect(log.map { $0["ambiguous"] } == [true, false, false])
    #expect(log.map { $0["status"] } == [.null, 422, 200])
    #expect(log[0]["error"] == "timeout")
    #expect(log[1]["response"]?.stringValue?.contains("missing mandatory property") ?? false)
    #expect(
      Self.names(log[0]) == [
        "ambiguous", "at", "detail", "duration_ms", "error", "number", "response", "status",
      ])
    #expect(events.map { $0["id"] } == ["evt_1"])
  }

  @Test(
    arguments: [
      ("sub_delivered", "ask its support about the import id"), ("sub_failed", "receipts replay rcp_"),
      ("sub_failed", "make the receipt again: receiptctl receipts complete rcp_"),
      ("sub_waiting", "receipts complete rcp_"), ("sub_pending", "It is due, and waits for its turn;"),
      ("sub_cancelled", "To deliver it after all"),
    ])
  func everyStateHasItsAdvice(object: String, advice: String) throws {
    let harness = try Self.everyState()
    let found = try harness.run("receipts", "list", "--object", object, "--json").objects.first
    let id = try #require(found?["id"]?.stringValue)
    #expect(harness.run("receipts", "show", id).out.contains(advice))
  }

  @Test func aPausedAppIsNamedWhereItsReceiptsWait() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    let breaker = Breaker(
      state: .paused, probeAt: harness.clock.now.advanced(by: .seconds(30)), since: harness.clock.now,
      cause: .status(401))
    try harness.attempt(id, status: 401, .retry(at: harness.clock.now, spent: false), breaker: breaker)
    harness.clock.advance(.seconds(10))
    let shown = harness.run("receipts", "show", id).out
    #expect(
      shown.contains(
        "Deliveries of this app to purchasely stopped 10 s ago, the destination refuses the configuration "
          + "(http_401), next probe in 20 s."))
    #expect(shown.contains("apps.ios.purchasely.api_key, then run"))
  }

  @Test func aQuoteIsQuotedWhateverCombinesWithIt() throws {
    #expect(ShellWord.quoted("x'\u{301};reboot;'\u{301}") == "'x'\\''\u{301};reboot;'\\''\u{301}'")
    let harness = try OperatorHarness()
    let ran = harness.run("receipts", "replay", "sub_'\u{301};reboot;'\u{301}")
    #expect(ran.notes.contains("--id 'sub_'\\''\u{301};reboot;'\\''\u{301}'"))
  }

  @Test func anUnknownIDIsNotFound() throws {
    let harness = try OperatorHarness()
    let ran = harness.run("receipts", "show", "sub_1")
    #expect(ran.code == .notFound)
    #expect(ran.notes.contains("there is no receipt sub_1"))
    #expect(ran.notes.contains("no purchase, payment or checkout session has this id either"))
    #expect(!ran.notes.contains("--object"), "that searches what show has just searched")
    #expect(harness.run("receipts", "replay", "sub_1").notes.contains("receipts list --id sub_1"))
  }
}
