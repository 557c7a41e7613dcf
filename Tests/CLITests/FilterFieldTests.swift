// Tests that every field of a filter is an option, and that the options do what the fields say.

import Domain
import Formats
import Reports
import Store
import Terminal
import Testing

@testable import CLI

@Suite(.everyPlace) struct FilterFieldTests {
  /// A valid value of each field.
  private static func sample<Filter: Sendable>(_ field: FilterField<Filter>) -> String? {
    switch field.kind {
    case .flag: nil
    case .choice(let words): words[0]
    case .moment: "2026-11-20T10:00:00Z"
    case .app: "ios"
    case .processor: "stripe"
    case .text:
      switch field.name {
      case "reason": "http_422"
      case "cause", "error": "timeout"
      case "status": "5xx"
      case "slower": "2s"
      default: "some_id"
      }
    }
  }

  private func check<Filter: ListFilter & Equatable>(_: Filter.Type, _ command: [String]) throws {
    let spec = try #require(OperatorProgram.spec.commands.first { $0.path == command })
    for field in Filter.fields {
      let option = try #require(spec.options.first { $0.name == field.name }, "\(command) \(field.name)")
      #expect(option.help == field.help)
      #expect(option.isFlag == (field.kind == .flag))
      #expect(option.isRepeatable == (option.isFlag || field.name == "state"))
      let text = Self.sample(field)
      let now = Timestamp(unixMilliseconds: ManualClock.start)
      let filter = try Filter(now: now) { $0.name == field.name ? text ?? FilterFlag.given : nil }
      #expect(filter != Filter(), "\(field.name) sets a condition")
      let words = command + ["--\(field.name)"] + (text.map { [$0] } ?? [])
      #expect(try OperatorHarness().run(arguments: words).code == .done, "\(words)")
    }
    #expect(Set(Filter.fields.map(\.queryName)).count == Filter.fields.count)
  }

  @Test(.fileOnly) func everyFieldIsAnOption() throws {
    try check(ReceiptFilter.self, ["receipts", "list"])
    try check(EventFilter.self, ["events", "list"])
    try check(AttemptFilter.self, ["attempts", "list"])
    try check(ContextFilter.self, ["contexts", "list"])
    try check(ClaimFilter.self, ["claims", "list"])
    try check(AuditFilter.self, ["audit", "list"])
    try check(JobFilter.self, ["jobs", "list"])
  }

  @Test(arguments: [
    ("--status", "600", "--status must be an HTTP status such as 503, or a class such as 5xx"),
    ("--error", "tiemout", "no attempt can fail with 'tiemout'; did you mean 'timeout'?"),
    ("--cause", "503", "no attempt can fail with '503'; did you mean 'http_503'?"),
    ("--user", "", "--user must be 1 to 255 bytes of plain text"),
    ("--since", "yesterday", "--since must be a time such as"),
  ])
  func `A value that nothing can have is refused`(option: String, value: String, message: String) throws {
    let ran = try OperatorHarness().run("receipts", "list", option, value)
    #expect(ran.code == .usage)
    #expect(ran.notes.contains(message), "\(ran.notes)")
  }

  @Test func newFiltersRestrict() throws {
    let harness = try ReceiptListTests.everyState()
    func objects(_ options: String...) throws -> [String?] {
      let ran = harness.run(arguments: ["receipts", "list", "--json"] + options)
      #expect(ran.code == .done)
      return try ran.objects.map { $0["object_id"]?.stringValue }
    }
    #expect(try objects("--status", "422") == ["sub_failed"])
    #expect(try objects("--status", "4xx", "--error", "http_422") == ["sub_failed"])
    #expect(try objects("--status", "2xx") == ["sub_delivered"])
    #expect(try objects("--session", "cs_sub_pending") == ["sub_pending"])
    #expect(try objects("--customer", "cus_none") == [])
    #expect(try objects("--price", "price_1").count == 5)
    #expect(harness.run("receipts", "list", "--cause", "timeout", "--error", "http_503").code == .usage)
    let job = harness.run("receipts", "replay", "--state", "failed", "--status", "422", "--yes")
    #expect(job.notes.contains("Job job_"))
    #expect(harness.run("jobs", "list").out.contains("replay: state failed, last answer 422"))
  }

  @Test func `Every command that takes a state takes several`() throws {
    let harness = try ReceiptListTests.everyState()
    for command in OperatorProgram.spec.commands {
      for option in command.options where option.name == "state" {
        #expect(option.isRepeatable, "\(command.name)")
      }
    }
    let states = ["--state", "waiting", "--state", "failed"]
    let preview = try #require(
      try harness.run(arguments: ["receipts", "cancel", "--why", "x", "-n", "--json"] + states).objects.first)
    #expect(preview["would_cancel"] == 2)
    let one = ["--id", "sub_waiting", "--why", "x", "-n", "--json"]
    let narrow = try #require(
      try harness.run(arguments: ["receipts", "cancel"] + one + states).objects.first)
    #expect(narrow["would_cancel"] == 1)
    let job = try #require(
      harness.run(arguments: ["receipts", "replay", "--rate", "1/s", "--yes"] + states).job)
    #expect(harness.run("jobs", "show", job).out.contains("replay: state waiting,failed"))
    let open = ["jobs", "list", "--json", "--state", "done", "--state"]
    #expect(try harness.run(arguments: open + ["running"]).objects.map { $0["id"] } == [.string(job)])
    #expect(try harness.run(arguments: open + ["paused"]).objects.isEmpty)
    let missed = harness.run("receipts", "list", "--state", "failed", "--state", "filed")
    #expect(missed.code == .usage)
    #expect(missed.notes.contains("did you mean 'failed'?"))
  }

  @Test func completeDoesNotFilterByWhatItSupplies() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", price: nil)
    #expect(harness.run("receipts", "complete", id, "--price", "price_9", "--yes").code == .done)
    #expect(try harness.receipt(id).priceID == "price_9")
  }
}
