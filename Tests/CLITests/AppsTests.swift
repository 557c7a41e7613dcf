// Tests of `receiptctl apps` and `receiptctl jobs rate`.

import Domain
import Formats
import Platform
import Store
import Terminal
import Testing

@Suite("Apps") struct AppsTests {
  @Test func `A pause is shown by every command that an operator would look at, and audited`() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    _ = try harness.purchase("sub_1")
    let ran = harness.run("apps", "pause", "ios", "--for", "1h", "--why", "the destination asked for it")
    #expect(ran.code == .done)
    #expect(ran.out == "Deliveries of ios are paused until 11:00 UTC\n")
    #expect(ran.notes.contains("No receiptd serves this database"))
    harness.clock.advance(.minutes(3))
    Snapshot.check(harness.run("apps", "list").out, "apps-list")
    let stats = harness.run("stats").out
    #expect(stats.contains("Deliveries of ios were paused by ann 3 min ago: the destination asked for it."))
    #expect(
      stats.contains("They resume in 57 min, at 11:00 UTC; to resume them now: receiptctl apps resume ios"))
    let app = try #require(try harness.run("apps", "list", "--json").objects.first)
    #expect(app["pause"]?["until"] == "2026-11-20T11:00:00.000Z")
    #expect(app["pause"]?["why"] == "the destination asked for it")
    let entry = try #require(try harness.run("audit", "list", "--json").objects.first)
    #expect(entry["action"] == "apps pause")
    #expect(entry["app"] == "ios")
    #expect(entry["details"]?["seconds"] == 3600)

    let resumed = harness.run("apps", "resume", "ios")
    #expect(resumed.out == "Deliveries of ios resume; 1 receipt of it is pending.\n")
    #expect(harness.run("apps", "resume", "ios").out.contains("No operator has paused"))
    #expect(try harness.run("audit", "list", "--json").objects.count == 2)
    #expect(try harness.run("apps", "list", "--json").objects.first?["pause"] == .null)
  }

  @Test func `The end of a pause on another day has its date`() throws {
    let harness = try OperatorHarness()
    let ran = harness.run("apps", "pause", "ios", "--for", "20h", "--why", "x")
    #expect(ran.out == "Deliveries of ios are paused until 2026-11-21 06:00 UTC\n")
  }

  @Test("stats and doctor complained for good about the breaker of a removed app, and no other page did")
  func removedApp() throws {
    let harness = try OperatorHarness(apps: ["ios", "old"])
    try harness.deliver(try harness.purchase("sub_1", app: "old"))
    let paused = Breaker(state: .paused, since: harness.clock.now, cause: .status(403))
    _ = try harness.writer.apply(
      SaveBreaker(AppDestination("old", "purchasely"), paused), now: harness.clock.now)
    let before = harness.run("stats").out
    #expect(before.contains("Deliveries of old to purchasely"))
    let content = try FileReading.content(of: harness.configurationPath, bytesMax: 1 << 20)
    let text = String(decoding: content.bytes, as: UTF8.self)
    let end = try #require(text.firstRange(of: "'old'")).lowerBound
    FileWriting.remove(harness.configurationPath)
    try FileWriting.create(harness.configurationPath, Array("\(text[..<end])} }".utf8), mode: 0o600)
    for command in [["stats"], ["doctor", "--local", "--only", "work"]] {
      #expect(!harness.run(arguments: command).out.contains("Deliveries of old"), "\(command)")
    }
    #expect(harness.run("stats").out.contains("not configured"))
  }

  @Test func `How contexts join is shown by day, with the contexts that a receipt did not get`() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    for number in 1...10 {
      try harness.context(
        String(repeating: "b", count: number), user: UserID("JDO-\(number)"), price: "price_1")
    }
    harness.clock.advance(.minutes(2))
    var receipt = ""
    for number in 1...20 { receipt = try harness.purchase("sub_\(number)", user: "jdo-\(number)") }
    let stats = harness.run("status", "--joins").out
    #expect(
      stats.contains("20 of 20 receipts of the last 6 hours have no context, and 10 contexts of that time"))
    for verb in ["status", "stats"] {
      let both = harness.run(verb, "--joins", "--latency")
      #expect(both.code == .usage, "\(verb)")
      #expect(both.notes.contains("--joins and --latency exclude each other"), "\(verb)")
    }
    #expect(stats.contains("receiptctl receipts list --app ios --join none --limit 5"))
    let day = try #require(try harness.run("stats", "--joins", "--json").objects.first)
    #expect(day["none"] == 20)
    #expect(day["unclaimed"] == 10)
    let app = try #require(try harness.run("apps", "list", "--json").objects.first)
    #expect(app["joins_last_24h"]?["receipts"] == 20)
    #expect(harness.run("apps", "list").out.contains("0 %"))
    let listed = try harness.run("receipts", "list", "--join", "none", "--limit", "1", "--json").objects
    #expect(listed.first?["id"] == .string(receipt))
    let shown = harness.run("receipts", "show", "sub_7").out
    #expect(
      shown.contains("of the user 'JDO-7' was posted 2 min before the payment, and no purchase claimed it"))
    #expect(shown.contains("this purchase names 'jdo-7', which differs only in form."))
    let json = harness.run("receipts", "show", "sub_7", "--json").out
    #expect(json.contains(#""cause":"similar_user""#))
    #expect(harness.run("alerts", "list").out.contains("contexts_unjoined"))
  }

  @Test func `Without a time it lasts until it is resumed`() throws {
    let harness = try OperatorHarness()
    let ran = harness.run("apps", "pause", "ios", "--why", "wrong prices")
    #expect(ran.out == "Deliveries of ios are paused until: receiptctl apps resume ios\n")
    harness.clock.advance(.days(30))
    #expect(harness.run("stats").out.contains("They stay so until an operator resumes them"))
    #expect(harness.run("alerts", "list").out.contains("app_paused"))
  }

  @Test(arguments: [
    (["apps", "pause", "iso", "--why", "x"], ExitCode.notFound, "there is no app"),
    (["apps", "resume", "web"], .notFound, "there is no app"),
    (["apps", "pause", "ios", "--for", "1", "--why", "x"], .usage, "such as 90s or 5m"),
    (["apps", "pause", "ios", "--for", "0s", "--why", "x"], .usage, "from 1s"),
    (["apps", "pause", "ios", "--why", " "], .usage, "needs a few words"),
    (["apps", "pause", "ios", "--for", "1h"], .usage, "--why is missing"),
    (["apps", "pause"], .usage, "APP"),
  ])
  func `A mistake changes nothing, and is explained`(command: [String], code: ExitCode, says: String) throws {
    let harness = try OperatorHarness()
    let ran = harness.run(arguments: command)
    #expect(ran.code == code)
    #expect(ran.notes.contains(says), "\(ran.notes)")
    #expect(try harness.run("audit", "list", "--json").objects.isEmpty)
  }

  @Test func `What stats calls stopped, apps resume does not call paused`() throws {
    let harness = try OperatorHarness()
    let breaker = Breaker(state: .paused, since: harness.clock.now, cause: .status(403))
    try harness.attempt(
      try harness.purchase("sub_1"), status: 403, .retry(at: harness.clock.now, spent: false),
      breaker: breaker)
    let sentence = "the destination refuses the configuration (http_403)"
    for command in [["stats"], ["apps", "list"], ["apps", "resume", "ios"]] {
      let ran = harness.run(arguments: command)
      #expect(ran.code == .done)
      #expect(!ran.out.contains("paused ("), "\(ran.out)")
      #expect(!ran.out.contains("were paused"), "\(ran.out)")
    }
    let resumed = harness.run("apps", "resume", "ios").out
    #expect(resumed.hasPrefix("No operator has paused the deliveries of ios; nothing was changed.\n"))
    #expect(resumed.contains(sentence))
    #expect(harness.run("stats").out.contains(sentence))
  }

  @Test func `The rate of a job is changed, audited and shown`() throws {
    let harness = try OperatorHarness()
    for number in 1...3 { try harness.fail(try harness.purchase("sub_\(number)"), status: 422) }
    let started = harness.run("receipts", "replay", "--state", "failed", "--rate", "0.001/s", "--yes")
    let job = try #require(started.job)
    let changed = harness.run("jobs", "rate", job, "2/s", "--reason", "too slow")
    #expect(changed.code == .done)
    #expect(changed.out.hasPrefix("Job \(job) is 2/s"))
    #expect(harness.run("jobs", "rate", job, "2").out.contains("already"))
    #expect(try harness.run("jobs", "show", job, "--json").objects.first?["rate"] == 2)
    #expect(try harness.run("audit", "list", "--json").objects.first?["details"]?["rate"] == 2)
    #expect(harness.run("audit", "list").out.contains("rate 2"))
    #expect(harness.run("jobs", "rate", job, "none").out.contains("unlimited"))
    for wrong in ["fast", "0/s", "-1", "nan", "20000"] {
      #expect(harness.run("jobs", "rate", job, wrong).code == .usage, "\(wrong)")
    }
  }

  @Test("A hold of a day that a destination asked for can be ended, and a replay says what it waits for")
  func retryNow() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    try harness.fail(id)
    let place = AppDestination("ios", "purchasely")
    try harness.store(SaveBreaker(place, Breaker(restUntil: harness.clock.now + .days(1))))
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    let replayed = harness.run("receipts", "replay", id, "--yes", "--why", "x")
    #expect(replayed.out.hasPrefix("1 receipt is pending again; but it waits.\n"), "\(replayed)")
    #expect(replayed.out.contains("to try now: receiptctl apps retry-now ios"))
    #expect(!replayed.out.contains("sends it now"))
    let ran = harness.run("apps", "retry-now", "ios", "--why", "they lifted the block")
    #expect(ran.code == .done)
    #expect(ran.out.hasPrefix("Deliveries of ios wait no longer; pending receipts are due now."))
    #expect(!ran.notes.contains("paused"), "the app was never paused: \(ran.notes)")
    #expect(harness.run("stats").out.contains("running"))
    let entry = try #require(try harness.run("audit", "list", "--json").objects.first)
    #expect(entry["action"] == "apps retry-now")
    #expect(entry["reason"] == "they lifted the block")
    #expect(try harness.run("apps", "retry-now", "ios", "--json").objects.first?["waited"] == false)
    #expect(harness.run("apps", "retry-now", "none").code != .done)
  }
}
