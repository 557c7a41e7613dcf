// Every command of the runbook, with the real programs, in the situation of its section.

import Domain
import FoundationEssentials
import Glibc
import JSON
import Platform
import Sandbox
import Store
import TestSupport
import Testing

/// Runs the steps of one section.
private final class RunbookRun {
  let relay: Relay
  let scene: RunbookScene
  private let programs: String

  init(_ relay: Relay, _ scene: RunbookScene) throws {
    self.relay = relay
    self.scene = scene
    programs = relay.directory.file("bin")
    for folder in ["bin", "backups"] {
      try FileManager.default.createDirectory(
        atPath: relay.directory.file(folder), withIntermediateDirectories: false)
    }
    for (name, path) in [("receiptctl", Program.receiptctl), ("receiptd", Program.receiptd)] {
      let script = "#!/bin/sh\nexec '\(path)' --config '\(relay.configurationPath)' \"$@\"\n"
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
    let command = try named(step.command)
    let ran = try ShellRun(["env", "PATH=\(programs):\(Self.path)", "bash", "-c", hereward(command)])
    // 65: db check found damage, as its section says. 1: the doctor names what failed.
    let codes: Set<Int32> = command.hasPrefix("receiptctl doctor") ? [0, 1] : [0, 3, 65]
    #expect(codes.contains(ran.code), "\(command) ended with \(ran.code): \(ran.output)")
    let lines = outward(ran.output).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return Runbook.Step(command: command, printed: lines.last == "" ? lines.dropLast() : lines)
  }

  private static let path = Environment.process["PATH"] ?? "/usr/bin:/bin"

  /// The service manager's actions.
  private func control(_ verb: String) throws {
    switch verb {
    case "stop", "disable": try #require(try relay.stop() == 0)
    case "start": try relay.start()
    case "restart":
      try #require(try relay.stop() == 0)
      try relay.start()
    case "reload":
      relay.signal(SIGHUP)
      try waitUntil("the configuration is read again") { relay.log.contains("configuration read again") }
    default: Issue.record("systemctl \(verb)")
    }
  }

  /// Replaces the page's receipt id by the id of the section's receipt.
  private func named(_ command: String) throws -> String {
    if let order = scene.shop?.swedbank.orders.first?.id {
      return command.replacing(/\/psp\/paymentorders\/[0-9A-Za-z-]+/, with: order)
    }
    guard let object = scene.object, let id = try relay.receipt(of: object)?.id else { return command }
    return command.replacing(/rcp_[0-9A-Z]{26}/, with: id.text)
  }

  /// Replaces the page's paths by those of this machine.
  private func hereward(_ command: String) -> String {
    command.replacing("/var/backups/receiptd", with: relay.directory.file("backups"))
      .replacing("/var/lib/receiptd", with: relay.directory.path)
      .replacing("localhost:8081", with: "127.0.0.1:\(relay.admin.port)")
  }

  private func outward(_ output: String) -> String {
    let places = scene.server.map { output.replacing($0.url, with: RunbookServer.url) } ?? output
    return places.replacing(HostName.current(), with: "relay-a")
      .replacing(relay.directory.file("backups"), with: "/var/backups/receiptd")
      .replacing(relay.configurationPath, with: "/etc/receiptd/receiptd.json5")
      .replacing(relay.directory.path, with: "/var/lib/receiptd")
  }
}

@Suite("The runbook", .withDaemonLog)
struct RunbookTests {
  @Test("It has the symptoms that operators see")
  func hasSections() {
    #expect(Runbook.titles.count >= 10)
  }

  @Test("Its commands have the effects and outputs that it shows", arguments: Runbook.titles)
  func section(title: String) throws {
    let steps = try Runbook().steps(of: title)
    let scene = try #require(try RunbookScene.of(title))
    defer {
      scene.shop?.stop()
      scene.server?.end()
    }
    let destination = try Destination()
    defer { destination.stop() }
    let stripe = try SandboxStripe(behaviour: SandboxStripeBehaviour(apiKey: RunbookScene.stripeKey))
    defer { stripe.stop() }
    stripe.records.register("https://pay.example.com/v1/shop/webhooks/stripe", types: ["*"])
    for user in scene.missed { stripe.records.add(Checkout(user).completed, isDelivered: false) }
    let app: JSONValue = [
      "stripe": ["api_key": .string(RunbookScene.stripeKey), "api_base": .string(stripe.base)]
    ]
    let shop = scene.shop?.configuration(scene.swedbank) ?? (app: [:], top: [:])
    try withRelay(
      to: destination, app: app.merging(scene.app).merging(shop.app), top: shop.top, server: scene.server?.url
    ) { relay in
      try scene.prepare(relay, destination)
      let run = try RunbookRun(relay, scene)
      var performed: [Runbook.Step] = []
      for (number, step) in steps.enumerated() {
        try scene.before[number]?(relay, destination)
        let now = try run.perform(step)
        performed.append(now)
        guard !Runbook.isRecording else { continue }
        #expect(
          now.printed.map(RunbookLine.init) == step.printed.map(RunbookLine.init),
          "\(step.command): run with RECORD_SNAPSHOTS=1")
      }
      if Runbook.isRecording { try Runbook.record(performed, in: title) }
    }
  }
}
