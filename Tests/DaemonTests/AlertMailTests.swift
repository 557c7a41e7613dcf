// Notices as e-mails: the message, and the program that sends it, which is a script here.

import Domain
import Formats
import FoundationEssentials
import Platform
import Service
import Store
import TestSupport
import Testing

@testable import Config
@testable import Upkeep

@Suite("E-mails of alerts") struct AlertMailTests {
  private typealias Samples = ConfigurationSamples

  private static func alert(_ program: String, _ on: [AlertCondition] = [.breakerOpen]) -> Configuration.Alert
  {
    var alert = Configuration.Alert(to: nil, on: on)
    alert.form = .email
    alert.mailTo = ["ops@example.com", "night@example.com"]
    alert.mailFrom = "receiptd@relay.example.com"
    alert.sendmail = program
    return alert
  }

  /// Serves the programs until all of them have ended.
  private static func finishMails(_ run: inout AlerterRun) { while !run.mails.isEmpty { run.handleMails() } }

  /// Runs the alerter for this long, each second until its mails are sent.
  private static func pass(_ seconds: Int, _ bench: AlertBench, _ run: inout AlerterRun) {
    for _ in 0..<seconds {
      _ = run.step()
      finishMails(&run)
      bench.clock.advance(.seconds(1))
    }
  }

  @Test func `A notice arrives as a message for all receivers, and so does the end`() throws {
    let program = try StandInSendmail()
    let bench = try AlertBench([Self.alert(program.path)])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      Self.pass(2, bench, &run)
      #expect(
        program.arguments == [
          "-i", "-f", "receiptd@relay.example.com", "--", "ops@example.com", "night@example.com",
        ])
      let message = try #require(program.message)
      #expect(message.contains("\nTo: ops@example.com,\n night@example.com\n"))
      #expect(message.contains("\nSubject: [FIRING] breaker_open of shop on "))
      #expect(message.contains("\nMessage-ID: <msg_"))
      #expect(
        message.contains(
          "\n\nPurchasely, a destination of shop, is down (http_503); deliveries to it wai=\nt.\n"))
      #expect(bench.network.requests.isEmpty)
      try bench.setBreaker(.closed)
      Self.pass(10, bench, &run)
      #expect(program.message?.contains("\nSubject: [RESOLVED] breaker_open of shop on ") == true)
    }
    #expect(try bench.bench.reader.alerts().map(\.isFiring) == [false])
  }

  @Test func `The program gets no variable of the relay but HOME, USER and LOGNAME (R7)`() throws {
    let program = try StandInSendmail()
    let bench = try AlertBench([Self.alert(program.path)])
    try bench.setBreaker(.open)
    try bench.live { run throws in Self.pass(1, bench, &run) }
    let names = program.variables.compactMap { $0.split(separator: "=").first.map(String.init) }
    #expect(!names.isEmpty)
    // The shell adds the last three.
    #expect(Set(names).isSubset(of: ["PATH", "HOME", "USER", "LOGNAME", "PWD", "SHLVL", "_"]))
  }

  @Test(arguments: [75, 1])
  func `Only exit code 0 is success; the log says what the program printed`(code: Int) throws {
    let program = try StandInSendmail("echo 'no mailbox here' >&2; exit \(code)")
    let bench = try AlertBench([Self.alert(program.path)])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      Self.pass(3, bench, &run)
      // After EX_TEMPFAIL the message may have been queued, so the end will be sent.
      #expect(run.couriers[0].ledger.records.map(\.isUnanswered) == (code == 75 ? [true] : []))
    }
    let line = try bench.bench.waitForLog("could not send an alert; trying again")
    #expect(line.contains("sendmail exited with \(code): no mailbox here"))
  }

  @Test("A program that hangs is ended after 30 seconds, and delays neither checks nor other receivers")
  func hangs() throws {
    let program = try StandInSendmail(script: "sleep 1000 & wait")
    let bench = try AlertBench([Self.alert(program.path), AlertBench.alert([.breakerOpen])])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      #expect(try bench.pass(.seconds(29), &run).map(\.notice) == ["breaker_open shop firing"])
      #expect(run.mails.count == 1)
      bench.clock.advance(.seconds(2))
      Self.finishMails(&run)
      #expect(run.couriers[0].ledger.records.map(\.isUnanswered) == [true])
    }
    #expect(try bench.bench.waitForLog("could not send an alert").contains("took longer than 30s"))
  }

  @Test func `A reload ends the program of an old plan, whose end changes nothing`() throws {
    let program = try StandInSendmail(script: "sleep 1000")
    let bench = try AlertBench([Self.alert(program.path)])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      _ = run.step()
      #expect(run.mails.count == 1)
      bench.use(try AlertBench.plan([AlertBench.alert([.breakerOpen])], apps: [Bench.app()]))
      #expect(try bench.pass(.zero, &run).map(\.notice) == ["breaker_open shop firing"])
      bench.clock.advance(.seconds(31))
      Self.finishMails(&run)
      #expect(run.couriers[0].ledger.records.map(\.isUnanswered) == [false])
      // The e-mail may have been sent nevertheless, so its address still gets the end.
      #expect(run.couriers.dropFirst().map(\.ledger.records).map { $0.map(\.isUnanswered) } == [[true]])
    }
  }

  @Test func `A program that prints much or reads nothing is judged by its exit code`() throws {
    for script in ["cat > /dev/null; yes | head -c 5000000; exit 0", "exec 0<&-; exit 0"] {
      let program = try StandInSendmail(script: script)
      let bench = try AlertBench([Self.alert(program.path)])
      try bench.setBreaker(.open)
      try bench.live { run throws in
        Self.pass(1, bench, &run)
        #expect(run.couriers[0].ledger.records.map(\.isFiring) == [true], "\(script)")
      }
    }
  }

  @Test func `A program that is not there is a failure like any other`() throws {
    let bench = try AlertBench([Self.alert("/nowhere/sendmail")])
    try bench.setBreaker(.open)
    try bench.live { run throws in Self.pass(1, bench, &run) }
    let line = try bench.bench.waitForLog("could not send an alert")
    #expect(line.contains("cannot run /nowhere/sendmail: No such file or directory"))
  }

  @Test("The message is printable ASCII in lines of at most 76 characters, and no line ends it early")
  func message() throws {
    let words = "é=. " + String(repeating: "x ", count: 100) + "\n.\nFrom here"
    let key = Finding.Key(condition: .breakerOpen, app: "ios")
    let finding = Finding(
      .warning, .work, "It is so", .soon, words, next: "nothing", commands: ["receiptctl status"])
    let now = Timestamp(unixMilliseconds: 1_795_168_803_120)
    let notice = AlertNotice(key, finding, since: now, id: "msg_1", now: now)
    let bytes = MailMessage.bytes(notice, from: "a@example.com", to: ["b@example.com"], host: "höst\n")
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(bytes.allSatisfy { (0x20...0x7E).contains($0) || $0 == UInt8(ascii: "\n") })
    let parts = text.split(separator: "\n\n", maxSplits: 1)
    #expect(
      parts[0] == """
        From: a@example.com
        To: b@example.com
        Subject: [FIRING] breaker_open of ios on h?st?
        Date: Fri, 20 Nov 2026 10:00:03 +0000
        Message-ID: <msg_1@example.com>
        Auto-Submitted: auto-generated
        MIME-Version: 1.0
        Content-Type: text/plain; charset=utf-8
        Content-Transfer-Encoding: quoted-printable
        """)
    let lines = parts[1].split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines.allSatisfy { $0.utf8.count <= 76 && !$0.hasSuffix(" ") && $0 != "." && !$0.hasPrefix("From ") })
    #expect(parts[1].contains("=C3=89=3D. x x"))
    #expect(parts[1].contains("\n=46rom here."))
    #expect(parts[1].contains("\n  receiptctl status\n"))
    let long = Finding(line: .warning, .work, String(repeating: "é", count: 100_000))
    let size = MailMessage.bytes(
      AlertNotice(key, long, since: now, id: "m", now: now), from: "a@b", to: ["c@d"], host: "h"
    ).count
    #expect(size < MailMessage.bytesMax)
  }

  @Test(arguments: [
    "-oQ/tmp@example.com", "a b@example.com", "a@example.com\\nBcc: x@example.com", "ops", "@example.com",
    "a@", "a@@example.com", "<a@example.com>", "a..b@example.com", "a@-example.com", "a,b@example.com",
    "ä@example.com",
  ])
  func `Addresses that could be options or other headers are refused`(text: String) {
    for key in [
      "mail_from: \"\(text)\", mail_to: ['a@example.com']", "mail_to: [\"\(text)\"], mail_from: 'a@b'",
    ] {
      let faults = Samples.faults(Samples.text(root: "alerts: [{ as: 'email', \(key), on: ['database'] }],"))
      #expect(
        faults.contains { $0.path.hasPrefix("alerts[0].mail_") && $0.message.contains("an e-mail address") },
        "\(key): \(faults)")
    }
  }

  @Test func `An e-mail needs both addresses, and no other`() throws {
    func faults(_ keys: String) -> [String] {
      Samples.faults(Samples.text(root: "alerts: [{ \(keys), on: ['database'] }],")).map(\.path)
    }
    #expect(faults("as: 'email'") == ["alerts[0].mail_to", "alerts[0].mail_from"])
    let whole =
      "as: 'email', mail_to: ['o.p-s+x@a.example.com', 'root@localhost'], mail_from: 'r@example.com'"
    #expect(faults(whole).isEmpty)
    #expect(faults("\(whole), to: 'https://h/'") == ["alerts[0].to"])
    #expect(faults("to: 'https://h/', mail_from: 'r@example.com'") == ["alerts[0].mail_from"])
  }
}
