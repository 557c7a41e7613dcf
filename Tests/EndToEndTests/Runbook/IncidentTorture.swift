// Plays the incidents of the runbook with the real programs on a large database: 200,000
// receipts in `make torture`.

import Formats
import Platform
import TestSupport
import Testing

/// What an operator sees of one incident.
private struct IncidentFaces {
  let run: RunbookRun
  let sign: IncidentSign
  private static let time: Duration = .minutes(1)

  private func hasAlert() throws -> Bool {
    guard let alert = sign.alert else { return false }
    return try run.run("receiptctl alerts list --json").output.contains(#""alert":"\#(alert)"#)
  }

  private func isPrinted() throws -> Bool {
    try run.run("receiptctl \(sign.command)").output.contains(sign.line)
  }

  private func isOnPage() throws -> Bool {
    guard let page = sign.page else {
      // No connection: receiptd does not run.
      return (try? run.relay.admin.request("GET", "/readyz")) == nil
    }
    let reply = try run.relay.admin.request("GET", try run.named(page))
    return reply.text.contains(sign.sentence)
  }

  /// receiptd reports its health every 5 s.
  func wait(shown: Bool) throws {
    if sign.alert != nil, shown || !sign.alertLasts {
      try waitUntil("the alert is listed: \(shown)", within: Self.time) { try hasAlert() == shown }
    }
    try waitUntil("receiptctl shows it: \(shown)", within: Self.time) { try isPrinted() == shown }
    try waitUntil("the dashboard shows it: \(shown)", within: Self.time) { try isOnPage() == shown }
  }

  func isShown() throws -> Bool {
    let isListed = try hasAlert()
    return try isListed || isPrinted() || isOnPage()
  }
}

@Suite("The incidents of the runbook", .withDaemonLog)
struct IncidentTorture {
  private static var playable: [Incident] {
    Incident.allCases.filter { $0 != .fullDisk || Tool.hasNamespaces }
  }

  @Test("Both faces show it, its commands end it, and nothing is lost or sent twice", arguments: playable)
  func play(_ incident: Incident) throws {
    let scene = try #require(try RunbookScene.of(incident.rawValue))
    let steps = try Runbook().steps(of: incident.rawValue)
    let begin = MonotonicInstant.now()
    try scene.withRelay(past: try PastDatabase.shared()) { run in
      let start = RFC3339.string(unixMilliseconds: SystemClock().wallMilliseconds)
      let faces = IncidentFaces(run: run, sign: incident.sign)
      #expect(try !faces.isShown(), "it begins healthy")
      // The small disk is low from the beginning.
      if incident != .fullDisk { #expect(try run.run("receiptctl doctor --local").code == 0) }
      try scene.prepare(run.relay, run.destination)
      for (number, step) in steps.enumerated() {
        if number == scene.beginsBefore {
          if number > 0 { try scene.before[number]?(run.relay, run.destination) }
          try faces.wait(shown: true)
          if number == 0 { try scene.before[number]?(run.relay, run.destination) }
        } else {
          try scene.before[number]?(run.relay, run.destination)
        }
        _ = try run.perform(step)
      }
      try scene.check?(run.relay, run.destination)
      if !incident.sign.lasts { try faces.wait(shown: false) }
      try Self.isDeliveredOnce(run, since: start)
      #expect(try run.run("receiptctl db check").code == 0)
    }
    print("incident: \(incident.rawValue): \(MonotonicInstant.now().duration(since: begin))")
  }

  /// The destination has accepted what is delivered, once, and nothing else.
  private static func isDeliveredOnce(_ run: RunbookRun, since start: String) throws {
    try waitUntil("nothing is pending") {
      try run.run("receiptctl receipts list --state pending --json").output.isEmpty
    }
    let listed = try run.run("receiptctl receipts list --since \(start) --state delivered --all --json")
    try #require(listed.code == 0, "\(listed.output)")
    let delivered = try listed.output.split(separator: "\n")
      .map { line throws in try JSONValue(parsing: Array(line.utf8))["object_id"]?.stringValue ?? "" }
    #expect(run.destination.accepted.compactMap(\.objectID).sorted() == delivered.sorted())
    #expect(!delivered.isEmpty)
  }

  @Test func `Commands that only read take less than 50 ms longer on many receipts than on a few`() throws {
    let all = try Incident.allCases.flatMap { try Runbook().steps(of: $0.rawValue) }.map(\.command)
    let reading = [
      "status", "receipts list", "receipts show", "failures list", "jobs list", "events list",
      "contexts list",
    ]
    let read = all.filter { command in reading.contains { command.hasPrefix("receiptctl \($0)") } }
    // The id is replaced by that of the receipt.
    let commands = Set(read.map { $0.replacing(/rcp_[0-9A-Z]+/, with: LargeDatabase.receiptID(1)) })
    #expect(commands.count >= 10)
    var scene = RunbookScene.usual
    scene.object = Checkout("jdo-1").subscription
    try scene.withRelay(past: try PastDatabase.shared()) { large in
      try scene.withRelay { small in
        for run in [large, small] { try scene.prepare(run.relay, run.destination) }
        for command in commands.sorted() + ["receiptctl alerts list", "receiptctl find sub_jdo-1"] {
          // In turn, so that another program's load affects both.
          let pairs = try (0..<5).map { _ in (try Self.time(command, large), try Self.time(command, small)) }
          let (long, short) = (Self.median(pairs.map(\.0)), Self.median(pairs.map(\.1)))
          print("incident: \(command): \(long), with a few receipts \(short)")
          // Twice: on a busy machine, and under a sanitizer, everything takes several times as long.
          #expect(long < short * 2 + .milliseconds(50), "\(command)")
        }
      }
    }
  }

  private static func time(_ command: String, _ run: RunbookRun) throws -> Duration {
    let begin = MonotonicInstant.now()
    _ = try run.perform(Runbook.Step(command: command, printed: []))
    return MonotonicInstant.now().duration(since: begin)
  }

  private static func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }
}
