// `receiptctl doctor`: one page about everything that receiptd depends on.

internal import Config
internal import Formats
internal import HTTPClient
internal import Platform
internal import Service
internal import Terminal

enum DoctorCommand {
  private static var names: [String] { DoctorChecks.all.map { $0.name } }

  static let verb = Verb(
    spec: CommandSpec(
      ["doctor"], summary: "Check everything that receiptd depends on, and say what to do",
      discussion: """
        A page of lines, each ok, ! (a warning) or FAIL with the next command: the configuration and \
        whether receiptd uses it, the age of secrets, the clock, the disk, the database, waiting work, the \
        last backup, certificates, whether the public address, destinations and processors answer, whether \
        the processor sends the right events to this relay, and the association files as devices, Apple \
        and Google get them. Changes nothing; of a destination it requests its URL with GET and without \
        credentials. Run it as the user that receiptd runs as. Servers are asked at the same time, for 5 s \
        at most. Ends with 1 if a line failed.
        """,
      options: [
        OptionSpec("app", placeholder: "APP", help: "Only this app, where a check is about apps"),
        OptionSpec(
          "only", placeholder: "CHECKS",
          help: "Only these checks, separated by commas: \(names.joined(separator: ", "))"),
        OptionSpec(flag: "local", help: "Skip network checks"),
      ],
      examples: [
        ExampleSpec("receiptctl doctor", "After an installation or an upgrade, and when in doubt"),
        ExampleSpec("receiptctl doctor --local", "Without the network"),
        ExampleSpec("receiptctl doctor --only processor,webhooks --app ios", "After a change at Stripe"),
      ]), run: run)

  private static func run(_ session: Session) throws -> ExitCode {
    let checks = try chosen(session)
    let findings: [Finding]
    do {
      let scene = try DoctorScene(session)
      findings = try Self.findings(of: checks, scene)
    } catch let faults as ConfigurationFaults {
      findings = ConfigurationCheck.findings(of: faults.faults)
      session.output.note("The other checks need a configuration that names the database.")
    }
    show(findings, session)
    return findings.contains { $0.level == .failure } ? .failed : .done
  }

  private static func chosen(_ session: Session) throws -> [any DoctorCheck.Type] {
    guard let only = session.command.options["only"] else { return DoctorChecks.all }
    let words = only.split(separator: ",").map { $0.filter { $0 != " " } }
    for word in words where !names.contains(word) {
      let near = EditDistance.nearest(to: word, among: names)
      let advice =
        near.map { "did you mean '\($0)'?" } ?? "the checks are \(names.joined(separator: ", "))"
      throw session.usage("--only: there is no check '\(DisplayText.clean(word))'; \(advice)")
    }
    return DoctorChecks.all.filter { words.contains($0.name) }
  }

  /// In the order of the page.
  private static func findings(
    of checks: [any DoctorCheck.Type], _ scene: DoctorScene
  ) throws -> [Finding] {
    var findings: [Finding] = []
    var probes: [DoctorProbe] = []
    let asks = !scene.session.command.flag("local")
    for check in checks {
      do {
        findings += try check.findings(scene)
        if asks { probes += try check.probes(scene) }
      } catch {
        findings.append(
          Finding(
            line: .failure, check.subject, "cannot be checked: \(DoctorScene.fault(error).message)",
            next: "Then look again: \(check.again())"))
      }
    }
    if !probes.isEmpty { scene.session.noteWork("Asking \(CountText.of(probes.count, "server")) …") }
    do throws(TransferFailure) {
      findings += try DoctorProbe.run(probes).flatMap { $0 }
    } catch {
      throw OperatorFault(.unavailable, "libcurl could not be set up (\(error.rawValue))")
    }
    let shared = scene.findings
    return checks.flatMap { check in
      let own = findings.filter { finding in
        finding.check == check.subject && !shared.contains { $0.contradicts(finding) }
      }
      return shared.filter { $0.check == check.subject }.map { $0.naming(check.again()) } + own
    }
  }

  private static func show(_ findings: [Finding], _ session: Session) {
    let output = session.output
    if session.isJSON {
      for finding in findings { output.json(finding.json) }
      return
    }
    for finding in findings {
      for line in finding.lines(inColour: output.isInColour) { output.line(line) }
    }
    func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }
    func words(_ count: Int, _ name: String) -> String {
      count == 0 ? "no \(name)s" : CountText.of(count, name)
    }
    output.line("\(words(count(.failure), "failure")), \(words(count(.warning), "warning"))")
  }
}

extension Finding {
  fileprivate var json: JSONValue {
    [
      "check": .string(check.rawValue), "level": .string(level.rawValue), "what": .string(what),
      "next": .optional(next),
    ]
  }

  /// The finding as text: a line, and below it what to do.
  func lines(inColour: Bool) -> [String] {
    let (word, style): (String, Style) =
      switch level {
      case .ok: ("ok", .green)
      case .warning: ("!", .yellow)
      case .failure: ("FAIL", .red)
      }
    let mark = style.applied(to: DisplayText.padded(word, to: 4), inColour: inColour)
    let line = "\(mark)  \(DisplayText.padded(check.rawValue, to: 13))  \(DisplayText.clean(what))"
    return [line] + (next.map { ["      \(DisplayText.clean($0))"] } ?? [])
  }

  /// The same with a command, if what is to be done has none.
  fileprivate func naming(_ command: String) -> Finding {
    guard let next, !next.contains("ctl ") else { return self }
    var finding = self
    finding.next = "\(next)\(next.hasSuffix(".") ? "" : ".") Then look again: \(command)"
    return finding
  }

  /// Whether a check's own line would say that all is well with what this problem is about.
  fileprivate func contradicts(_ own: Finding) -> Bool {
    level != .ok && own.level == .ok && check == own.check && (own.app == nil || app == own.app)
      && (own.processors.isEmpty || processors.isEmpty || own.processors.contains(where: processors.contains))
  }
}
