// Every command of the runbook, with the real programs, in the situation of its section.

import FoundationEssentials
import TestSupport
import Testing

@Suite("The runbook", .withDaemonLog)
struct RunbookTests {
  @Test func `It has the symptoms that operators see`() {
    #expect(Runbook.titles.count >= 10)
  }

  @Test(arguments: [
    (["a", "b"], true), (["…"], true), (["a", "…"], true), (["…", "b"], true), (["a", "…", "b"], true),
    (["a"], false), (["b"], false), (["…", "a"], false), (["b", "…"], false),
    (["a", "…", "a", "b"], false),
  ])
  func `A documented output may leave lines out, and nothing else`(_ documented: [String], isMatch: Bool) {
    let step = Runbook.Step(command: "true", printed: documented)
    #expect(step.excerpt(of: ["a", "b"]) == (isMatch ? documented : nil))
  }

  private static let certificate = "A certificate is about to expire"

  @Test(arguments: Runbook.titles.filter { ![Incident.fullDisk.rawValue, certificate].contains($0) })
  func `Its commands have the effects and outputs that it shows`(title: String) throws { try Self.run(title) }

  @Test(
    "The commands of a full disk have the effects and outputs that it shows",
    .enabled(if: Tool.hasNamespaces, "needs a separate file system"))
  func fullDisk() throws { try Self.run(Incident.fullDisk.rawValue) }

  @Test(
    "The commands of an expiring certificate have the effects and outputs that it shows",
    .enabled(if: SelfSigned.isPossible, "needs the openssl command"))
  func expiry() throws { try Self.run(Self.certificate) }

  /// Sections whose trouble or remedy is a file, or that have their own server.
  private static let ofOneEngine: Set = [
    Incident.fullDisk.rawValue, Incident.lostDatabase.rawValue, Incident.movedFile.rawValue,
    Incident.damaged.rawValue, "The database is damaged, and there is no backup",
    "The last backup is too old", "Move to another machine", "Upgrade, and roll back", certificate,
    // Its preparation writes into the file.
    "The outcome of a capture is unknown",
    "The PostgreSQL database cannot be used", "Which relay delivers an app",
    "The PostgreSQL database cannot be reached", "Remove a relay",
  ]

  @Test(
    .enabled(if: DatabasePlace.hasServer && !Runbook.isRecording, "needs PostgreSQL"),
    arguments: Runbook.titles.filter { !ofOneEngine.contains($0) })
  func `Its commands have the same effects and outputs with PostgreSQL`(title: String) throws {
    try DatabasePlace.$current.withValue(.server) { try Self.run(title) }
  }

  /// What `--wait` waits for is printed only if it waits for a second, which depends on the machine.
  private static func isShownAlways(_ line: String) -> Bool {
    !(line.hasPrefix("Deliveries of ") && line.hasSuffix("They resume automatically once it is back."))
      && !line.contains("fail while others pass")
  }

  private static func run(_ title: String) throws {
    let steps = try Runbook().steps(of: title)
    let scene = try #require(try RunbookScene.of(title), "RunbookScene.of has no situation for it")
    try scene.withRelay { run in
      try scene.prepare(run.relay, run.destination)
      var performed: [Runbook.Step] = []
      for (number, step) in steps.enumerated() {
        try scene.before[number]?(run.relay, run.destination)
        var now = try run.perform(step)
        let shown = Runbook.Step(command: step.command, printed: step.printed.filter(isShownAlways))
        let excerpt = shown.excerpt(of: now.printed.filter(isShownAlways))
        let printed = now.printed.joined(separator: "\n")
        // With PostgreSQL these also say how the server is set up.
        let isCompared = !(run.isOnSharedServer && step.isOfWholeRelay)
        if isCompared, !Runbook.isRecording {
          #expect(excerpt != nil, "\(step.command): run with RECORD_SNAPSHOTS=1; it printed\n\(printed)")
        } else if let excerpt, step.printed.contains(Runbook.Step.omission) {
          // A changed output is recorded in full: an author decides again what to leave out.
          now.printed = excerpt
        }
        performed.append(now)
      }
      try scene.check?(run.relay, run.destination)
      if Runbook.isRecording { try Runbook.record(performed, in: title) }
    }
  }

  @Test(arguments: [
    "receiptd was down", "The database is damaged", "Deliveries or requests are slow", "An app floods",
    "A client key leaked", "Move to another machine", "The Stripe account changed",
  ])
  func `Sections for the night have at most three commands`(title: String) throws {
    #expect((1...3).contains(try Runbook().steps(of: title).count))
  }

  @Test func `Each alert leads to a section`() throws {
    let page = TextFile.read("\(Program.repository)/docs/alerts.md")
    let table = page.split(separator: "| condition |").last?.split(separator: "\n\n").first ?? ""
    let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `") }
    #expect(rows.count >= 17)
    // What is to be done about association files stands beside how they are made.
    for row in rows { #expect(row.contains("(runbook/") || row.contains("(links.md#"), "\(row)") }
  }
}
