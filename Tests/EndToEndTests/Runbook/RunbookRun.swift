// Runs the commands of one section of the runbook, with the real programs. One thread.

import Domain
import Formats
import FoundationEssentials
import Glibc
import Platform
import RegexBuilder
import Sandbox
import TestSupport
import Testing

/// Runs the steps of one section.
final class RunbookRun {
  /// The relay; after a move, the one on the other machine.
  private(set) var relay: Relay
  let destination: Destination
  let scene: RunbookScene
  /// The other machine of a section about a move.
  private var newMachine: TestFolder?

  init(_ relay: Relay, _ destination: Destination, _ scene: RunbookScene) throws {
    self.relay = relay
    self.destination = destination
    self.scene = scene
    for folder in ["bin", "backups"] {
      try FileManager.default.createDirectory(
        atPath: relay.directory.file(folder), withIntermediateDirectories: false)
    }
    try writePrograms()
  }

  private func writePrograms() throws {
    for (name, path) in [("receiptctl", Program.receiptctl), ("receiptd", Program.receiptd)] {
      let command = "\(scene.place(relay)) '\(path)' --config '\(relay.configurationPath)'"
      let script = "#!/bin/sh\nexec \(command) \"$@\"\n"
      try relay.directory.write(script, to: "bin/\(name)")
      unsafe chmod(relay.directory.file("bin/\(name)"), 0o700)
    }
  }

  /// Runs one command of the page.
  /// - Returns: the command as it was run, and its output in the terms of the page.
  func perform(_ step: Runbook.Step) throws -> Runbook.Step {
    let words = step.command.split(separator: " ")
    if words.first == "systemctl" {
      try control(String(words[1]))
      return Runbook.Step(command: step.command, printed: [])
    }
    if isOnSharedServer, step.command == "receiptctl reload" {
      // As operations.md says of PostgreSQL.
      try control("reload")
      return step
    }
    let command = try named(step.command)
    let ran = try run(command)
    // 65: db check found damage, as its section says. 1: the doctor names what failed.
    let codes: Set<Int32> = command.hasPrefix("receiptctl doctor") ? [0, 1] : [0, 3, 65]
    #expect(codes.contains(ran.code), "\(command) ended with \(ran.code): \(ran.output)")
    if words.contains("ssh") { try move() }
    let lines = outward(ran.output).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return Runbook.Step(command: command, printed: lines.last == "" ? lines.dropLast() : lines)
  }

  /// Runs a command line in the terms of the page.
  func run(_ command: String) throws -> ShellRun {
    try ShellRun([
      "env", "PATH=\(relay.directory.file("bin")):\(Self.path)", "bash", "-c", try hereward(command),
    ])
  }

  private static let path = Environment.process["PATH"] ?? "/usr/bin:/bin"

  /// The service manager's actions.
  private func control(_ verb: String) throws {
    switch verb {
    case "stop", "disable":
      // A service that has failed is stopped already.
      if relay.process?.exitCode == nil { try #require(try relay.stop() == 0) }
    case "start", "enable": try relay.start()
    case "restart":
      try #require(try relay.stop() == 0)
      try relay.start()
    case "reload":
      let count = readings
      relay.signal(SIGHUP)
      try waitUntil("the configuration is read again") { readings > count }
    default: Issue.record("systemctl \(verb)")
    }
  }

  /// How often the configuration was read again.
  private var readings: Int { relay.log.split(separator: "configuration read again").count }

  /// Whether a section that is not about PostgreSQL runs with it.
  var isOnSharedServer: Bool { scene.server == nil && relay.server != nil }

  /// Replaces the page's receipt id by the id of the section's receipt.
  func named(_ command: String) throws -> String {
    if let order = scene.shop?.swedbank.orders.first?.id {
      return command.replacing(/\/psp\/paymentorders\/[0-9A-Za-z-]+/, with: order)
    }
    guard let object = scene.object, let id = try relay.receipt(of: object)?.id else { return command }
    return command.replacing(/rcp_[0-9A-Z]{26}/, with: id.text)
  }

  /// Replaces the page's paths and machines by those of this test.
  private func hereward(_ command: String) throws -> String {
    var command = command
    if command.contains("ssh ") {
      let other = try TestFolder()
      newMachine = other
      // What a machine has in two folders is in one folder here.
      command = command.replacing(
        "tar -C / -c etc/receiptd var/lib/receiptd", with: "tar -C \(relay.directory.path) -c ."
      )
      .replacing("ssh root@new tar -C /", with: "tar -C \(other.path)")
    }
    return command.replacing("/var/backups/receiptd", with: relay.directory.file("backups"))
      .replacing("/var/lib/receiptd", with: relay.directory.path)
      .replacing("localhost:8081", with: "127.0.0.1:\(relay.admin.port)")
  }

  /// The next commands run on the other machine.
  private func move() throws {
    let other = try #require(newMachine)
    let database: JSONValue = ["database": .string(other.file("receiptd.db"))]
    relay = try Relay(destination, top: relay.configuration.merging(database), in: other)
    try relay.writeConfiguration()
    try writePrograms()
  }

  private func outward(_ output: String) -> String {
    // A section that is not about PostgreSQL shows the path of a file.
    let shown = isOnSharedServer ? "/var/lib/receiptd/receiptd.db" : RunbookServer.url
    let places = relay.server.map { output.replacing($0, with: shown) } ?? output
    // The name of this machine is last, and a whole word: it may be short, and part of a random path.
    let host = Regex {
      Anchor.wordBoundary
      HostName.current()
      Anchor.wordBoundary
    }
    return places.replacing(relay.directory.file("backups"), with: "/var/backups/receiptd")
      .replacing(relay.configurationPath, with: "/etc/receiptd/receiptd.json5")
      .replacing(relay.directory.path, with: "/var/lib/receiptd")
      .replacing(host, with: "relay-a")
  }
}

extension RunbookScene {
  /// Runs `body` with a relay for the section, before the trouble begins.
  /// - Parameter past: the relay's database before its first start; nil for none.
  func withRelay(past: PastDatabase? = nil, _ body: (RunbookRun) throws -> Void) throws {
    defer {
      shop?.stop()
      server?.end()
    }
    let destination = try Destination()
    defer { destination.stop() }
    let stripe = try SandboxStripe(behaviour: SandboxStripeBehaviour(apiKey: Self.stripeKey))
    defer { stripe.stop() }
    stripe.records.register("https://pay.example.com/v1/shop/webhooks/stripe", types: ["*"])
    for user in missed { stripe.records.add(Checkout(user).completed, isDelivered: false) }
    let key: JSONValue = [
      "stripe": ["api_key": .string(Self.stripeKey), "api_base": .string(stripe.base)]
    ]
    let shopping = shop?.configuration(swedbank) ?? (app: [:], top: [:])
    try EndToEndTests.withRelay(
      to: destination, app: key.merging(app).merging(shopping.app), top: top.merging(shopping.top),
      server: server?.url, prepare: { try setUp($0, past) }
    ) { relay in try body(try RunbookRun(relay, destination, self)) }
  }
}
