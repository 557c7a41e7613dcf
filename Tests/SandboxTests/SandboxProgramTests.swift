// The program receipt-sandbox, in this process: its command line, and how its commands start and end.

import FoundationEssentials
import Platform
import Terminal
import TestSupport
import Testing

@testable import receipt_sandbox

@Suite struct SandboxProgramTests {
  /// Runs a command whose first wait is ended by a signal.
  /// - Parameter apps: those of the configuration.
  private func run(
    _ arguments: [String], apps: [String] = ["ios"], environment: [String: String] = [:]
  ) throws -> (code: ExitCode, out: String, notes: String) {
    let file = FileManager.default.temporaryDirectory.appending(component: "sandbox-\(UUID().uuidString)")
    let sections = apps.map { app in
      """
      '\(app)': { client: 'open', stripe: { webhook_secrets: ['env:WEBHOOK_SECRET'] },
        purchasely: { api_key: 'env:API_KEY' } },
      """
    }
    let text = "{ database: 'receiptd.db', listen: { port: 1 }, apps: { \(sections.joined()) } }"
    try Data(text.utf8).write(to: file)
    // If the removal fails, the system clears the folder.
    defer { try? FileManager.default.removeItem(at: file) }
    let (out, notes) = (Monitor(""), Monitor(""))
    func channel(_ text: Monitor<String>) -> OutputChannel {
      OutputChannel(isTerminal: false) { bytes in
        text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      }
    }
    let output = Output(
      program: SandboxProgram.name, result: channel(out), notes: channel(notes),
      environment: Environment([:]), isInputTerminal: false, answer: { nil })
    let dependencies = SandboxDependencies(
      output: output, environment: Environment(environment), catchStop: {}, isStopped: { _ in true })
    let code = SandboxProgram.run(["--config", file.path] + arguments, in: dependencies)
    return (code, out.withLock { $0 }, notes.withLock { $0 })
  }

  @Test func `The table is whole, and its examples are valid`() throws {
    #expect(SandboxProgram.spec.flaws == [])
    for example in SandboxProgram.spec.commands.flatMap(\.examples) {
      let words = example.line.split(separator: " | ").first?.split(separator: " ").dropFirst()
      let invocation = try CommandParser(SandboxProgram.spec).parse((words ?? []).map(String.init))
      #expect(invocation != .show(""))
    }
  }

  @Test func `The recorded help, manual page and completions equal the generated ones`() throws {
    let help = CommandHelp(SandboxProgram.spec)
    let texts = [help.text] + SandboxProgram.spec.commands.map { help.text(of: $0) }
    #expect(RecordedFile.fault(texts.joined(separator: "\n"), "Snapshots/help.txt") == nil)
    #expect(RecordedFile.fault(SandboxProgram.manual, "../../deploy/man/receipt-sandbox.1") == nil)
    for shell in Completions.Shell.allCases {
      let name = shell == .zsh ? "_receipt-sandbox" : "receipt-sandbox.\(shell.rawValue)"
      let script = try run(["completions", shell.rawValue]).out
      #expect(RecordedFile.fault(script, "../../deploy/completions/\(name)") == nil)
    }
  }

  @Test(arguments: [
    ["destinaton"], ["event", "--type", "refund"], ["destination", "--delay", "soon"],
    ["load", "--duration", "long"], ["load", "--rate", "0/s"], ["destination", "--fail-rate", "2"],
    ["webhook", "--secret", "abc"], ["webhook", "--secret", "env:UNSET"],
    ["swedbank", "--fault", "explode"], ["swedbank", "--fault-on", "validate"],
    ["swedbank", "--callbacks", "-1"], ["afterpay", "--status", "200"], ["afterpay", "--decide", "never"],
    ["afterpay", "--decline-status", "500"], ["stripe", "--events", "100001"],
  ])
  func `A slip is a usage error, and says where help is`(arguments: [String]) throws {
    let ran = try run(arguments)
    #expect(ran.code == .usage)
    #expect(ran.out == "")
    #expect(ran.notes.hasPrefix("receipt-sandbox: "))
    #expect(ran.notes.contains("\nSee: receipt-sandbox "))
  }

  @Test func `Stand-ins say where they are, and end with a signal`() throws {
    let environment = ["SECRET": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", "TOKEN": "t"]
    for (arguments, setting) in [
      (["destination", "--status", "503"], "Set purchasely: { url: \"http://127.0.0.1:"),
      (["webhook", "--secret", "env:SECRET"], "Set webhook: { url: \"http://127.0.0.1:"),
      (
        ["stripe", "--events", "1"],
        "Listening with 1 event. Set stripe: { api_key: \"sk_test_sandbox\", api_base"
      ),
      (
        ["swedbank", "--token", "env:TOKEN", "--fault", "cut", "--fault-on", "create", "--fault-on", "get"],
        "Set swedbank: { api_base: \"http://127.0.0.1:"
      ),
      (
        ["afterpay", "--delay", "80s", "--decide", "approve"], "Set afterpay: { api_base: \"http://127.0.0.1:"
      ),
    ] {
      let ran = try run(arguments + ["--port", "0"], environment: environment)
      #expect(ran.code == .done)
      #expect(ran.notes.contains(setting), "\(ran.notes)")
    }
  }

  @Test func `A file of events is read line by line`() throws {
    let file = FileManager.default.temporaryDirectory.appending(component: "events-\(UUID().uuidString)")
    try Data("\nno event\n".utf8).write(to: file)
    // If the removal fails, the system clears the folder.
    defer { try? FileManager.default.removeItem(at: file) }
    let ran = try run(["stripe", "--port", "0", "--events", file.path])
    #expect(ran.code == .badData)
    #expect(ran.notes.contains("line 1 of"), "\(ran.notes)")
    #expect(try run(["stripe", "--events", file.path + ".missing"]).code == .notFound)
  }

  @Test func `A port in use is named`() throws {
    let port = try ReservedPort(listens: true)
    let ran = try run(["destination", "--port", String(port.number)])
    #expect(ran.code == .unavailable)
    #expect(ran.notes.contains("cannot listen on port \(port.number)"), "\(ran.notes)")
    withExtendedLifetime(port) {}
  }

  @Test func `A secret that cannot be read is named`() throws {
    let ran = try run(["event", "--user", "jdo-1", "--price", "price_1"])
    #expect(ran.code == .configuration)
    #expect(
      ran.notes.contains("apps.ios.stripe.webhook_secrets[0]: needs the environment variable WEBHOOK_SECRET"))
  }

  @Test func `An event needs a relay and an app`() throws {
    let secrets = ["WEBHOOK_SECRET": "whsec_very_secret"]
    func event(_ options: String...) throws -> (code: ExitCode, out: String, notes: String) {
      try run(["event"] + options, apps: ["ios", "web"], environment: secrets)
    }
    #expect(try event().code == .usage)
    let unknown = try event("--app", "tv")
    #expect(unknown.code == .notFound)
    #expect(unknown.notes.contains("there is no app 'tv' in the configuration; there is ios, web"))
    let alone = try event("--app", "ios")
    #expect(alone.code == .unavailable)
    #expect(alone.notes.contains("no answer from http://127.0.0.1:1 (connect_failed)"))
    #expect(try event("--app", "ios", "--url", "http://example.com").code == .refused)
  }
}
