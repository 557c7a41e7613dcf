// `events backfill` against the simulated Stripe API, and `events reprocess`.

import Domain
import Formats
import FoundationEssentials
import Platform
import SQLiteStore
import Sandbox
import Store
import Terminal
import Testing

@testable import CLI

@Suite struct BackfillTests {
  private static func stripe(
    _ count: Int, _ behaviour: SandboxStripeBehaviour = SandboxStripeBehaviour(pageSizeMax: 10),
    onRequest: @escaping @Sendable (SandboxStripeRequest) -> Void = { _ in }
  ) throws -> SandboxStripe {
    var random = SeededGenerator(seed: 1)
    let records = StripeRecords.made(count, now: ManualClock.start, random: &random)
    return try SandboxStripe(records: records, behaviour: behaviour, onRequest: onRequest)
  }

  /// A relay whose lookups go to `base`.
  private static func harness(asking base: String?, root: String = "") throws -> OperatorHarness {
    let harness = try OperatorHarness()
    let asking = base.map { ", api_key: 'sk_test_1', api_base: '\($0)'" } ?? ""
    let text = """
      { database: 'receiptd.db', listen: { port: 1 }, \(root) apps: { ios: { client: 'open',
        stripe: { webhook_secrets: ['env:WEBHOOK_SECRET']\(asking) },
        purchasely: { api_key: 'env:API_KEY' } } } }
      """
    _ = FileManager.default.createFile(atPath: harness.configurationPath, contents: Data(text.utf8))
    return harness
  }

  private static func count(_ harness: OperatorHarness) throws -> (events: Int, receipts: Int) {
    let reader = try harness.reader()
    return (
      try reader.events(EventFilter(), limit: 1000).count,
      try reader.receipts(ReceiptFilter(), limit: 1000).count
    )
  }

  @Test func `A backfill names each app without a key, and is not complete`() throws {
    let stripe = try Self.stripe(3)
    let harness = try Self.harness(asking: stripe.base)
    let web =
      "apps: { web: { client: 'open', stripe: {webhook_secrets:['env:S']}, purchasely: {api_key:'env:K'} },"
    try harness.configure { $0.replacing("apps: {", with: web) }
    let ran = harness.run("events", "backfill", "--since", "1d", "--dry-run")
    #expect(ran.code == .done)
    #expect(ran.out.hasPrefix("ios: found 3 events"))
    #expect(ran.notes.contains("web: skipped, nothing was fetched: apps.web.stripe.api_key is not set"))
    let objects = try harness.run("events", "backfill", "--since", "1d", "--json").objects
    #expect(objects.map { $0["app"] } == ["web", "ios"])
    #expect(objects.map { $0["is_complete"] } == [false, true])
    #expect(objects[0]["skipped"] == "apps.web.stripe.api_key is not set")
  }

  @Test func whatIsMissingIsTakenInOnce() throws {
    let stripe = try Self.stripe(25)
    let harness = try Self.harness(asking: stripe.base)
    let dry = harness.run("events", "backfill", "--since", "1d", "--dry-run")
    #expect(dry.code == .done)
    #expect(dry.out == "ios: found 25 events, 25 would be ingested; nothing was changed\n")
    #expect(try Self.count(harness) == (0, 0))
    let ran = harness.run("events", "backfill", "--since", "10m", "--reason", "the proxy was down")
    #expect(
      ran.out == "ios: found 11 events; ingested 11 that were missing, 11 of them for receipts\n", "\(ran)")
    let object = try #require(try harness.run("events", "backfill", "--since", "1d", "--json").objects.first)
    #expect(object["events"] == 25)
    #expect(object["missing"] == 14)
    #expect(object["is_complete"] == true)
    let again = try #require(try harness.run("events", "backfill", "--since", "1d", "--json").objects.first)
    #expect(again["events"] == 25)
    #expect(again["missing"] == 0)
    #expect(try Self.count(harness) == (25, 25))
    let audit = harness.run("audit", "list", "--json")
    #expect(audit.out.contains("the proxy was down"))
    #expect(audit.out.contains("events backfill"))
    #expect(!audit.out.contains("sk_test_1"))
  }

  @Test func aPromiseOfOnlyTheUndeliveredIsKept() throws {
    let stripe = try Self.stripe(5)
    var records = stripe.records
    var random = SeededGenerator(seed: 7)
    let lost = SandboxPurchase(userID: "u", priceID: "p", isSubscription: true, random: &random)
    records.add(lost, at: ManualClock.start, isDelivered: false, random: &random)
    stripe.records = records
    let harness = try Self.harness(asking: stripe.base)
    let ran = harness.run("events", "backfill", "--since", "1d", "--undelivered")
    #expect(ran.out.hasPrefix("ios: found 1 event; ingested 1 that was missing"), "\(ran)")
  }

  @Test func aRefusedKeyIsSaidAndNotShown() throws {
    let stripe = try Self.stripe(5, SandboxStripeBehaviour(apiKey: "sk_other"))
    let ran = try Self.harness(asking: stripe.base).run("events", "backfill", "--since", "1d")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("refuses the key (http_401); see that stripe.api_key is right"))
    #expect(!ran.notes.contains("sk_test_1"))
  }

  @Test func nobodyThereIsUnavailable() throws {
    let stripe = try Self.stripe(5)
    let base = stripe.base
    stripe.stop()
    let ran = try Self.harness(asking: base).run("events", "backfill", "--since", "1d")
    #expect(ran.code == .unavailable)
    #expect(ran.notes.contains("does not answer (connect_failed)"))
  }

  @Test func itGoesSlowerWhenItIsAskedTo() throws {
    let stripe = try Self.stripe(5, SandboxStripeBehaviour(status: 429, retryAfterSeconds: 7))
    let pauses = Monitor<[Duration]>([])
    let ran = try Self.harness(asking: stripe.base).run("events", "backfill", "--since", "1d") { pause in
      pauses.withLock { $0.append(pause) }
      stripe.behaviour = SandboxStripeBehaviour()
    }
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.out.contains("5 that were missing"), "\(ran)")
    #expect(pauses.withLock { $0 } == [.seconds(7)])
  }

  @Test func aPartIsAPart() throws {
    let holder = Monitor<SandboxStripe?>(nil)
    let stripe = try Self.stripe(25) { _ in
      // After the first page the key is revoked.
      holder.withLock { $0 }?.behaviour = SandboxStripeBehaviour(status: 401)
    }
    holder.withLock { $0 = stripe }
    defer { holder.withLock { $0 = nil } }
    let harness = try Self.harness(asking: stripe.base)
    let ran = harness.run("events", "backfill", "--since", "1d", "--json")
    #expect(ran.code == .partly)
    #expect(try ran.objects.first?["is_complete"] == false)
    #expect(try ran.objects.first?["missing"] == 10)
    #expect(try Self.count(harness).events == 10)
  }

  @Test(arguments: [
    (["--since", "31d"], ExitCode.usage, "use --since 30d"), ([], .usage, "name the start"),
    (["--since", "1d", "--app", "web"], .notFound, "there is no app 'web'"),
  ])
  func whatCannotBeAskedIsSaid(options: [String], code: ExitCode, advice: String) throws {
    let harness = try Self.harness(asking: "http://127.0.0.1:1")
    let ran = harness.run(arguments: ["events", "backfill"] + options)
    #expect(ran.code == code, "\(ran)")
    #expect(ran.notes.contains(advice), "\(ran)")
  }

  @Test func withoutAKeyThereIsNobodyToAsk() throws {
    let ran = try Self.harness(asking: nil).run("events", "backfill", "--since", "1d")
    #expect(ran.code == .configuration, "\(ran)")
    #expect(ran.notes.contains("apps.ios.stripe.api_key: is not set"), "\(ran)")
  }
}

@Suite(.everyPlace) struct ReprocessTests {
  /// Events that an older version could not parse.
  private static func harness() throws -> (harness: OperatorHarness, ids: [String]) {
    let harness = try OperatorHarness()
    var random = SeededGenerator(seed: 1)
    var ids: [String] = []
    for number in 1...3 {
      let purchase = SandboxPurchase(
        userID: "u\(number)", priceID: "price_1", isSubscription: true, random: &random)
      let event = StripeSampleEvents.event(.subscription, purchase, now: ManualClock.start, random: &random)
      _ = try harness.writer.apply(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: EventID(event.id), type: "", body: event.body,
          content: .nothing(.unparsed)), now: harness.clock.now)
      ids.append(event.id)
    }
    return (harness, ids)
  }

  @Test func whatWasNotUnderstoodIsReadAgain() throws {
    let (harness, ids) = try Self.harness()
    let dry = harness.run("events", "reprocess", "--outcome", "unparsed", "--dry-run")
    let decides = "Would read 3 events again; 3 may change: the join with their purchases decides."
    #expect(dry.out == "unparsed → is read  3\n\(decides)\n")
    let nobody = harness.run("events", "reprocess", "--outcome", "unparsed")
    #expect(nobody.code == .refused)
    #expect(nobody.notes.contains("nothing was changed"))
    let ran = harness.run("events", "reprocess", "--outcome", "unparsed", answer: "y")
    #expect(ran.code == .done)
    #expect(ran.out == "unparsed → receipt  3\nRead 3 events again; 3 changed.\n")
    #expect(try harness.reader().receipts(ReceiptFilter(), limit: 10).count == 3)
    let again = harness.run("events", "reprocess", ids[0], "--yes", "--json")
    let object = try #require(try again.objects.first)
    #expect(object["before"] == "receipt")
    #expect(object["after"] == "receipt")
    #expect(try harness.reader().receipts(ReceiptFilter(), limit: 10).count == 3)
    let audit = try harness.run("audit", "list", "--json").objects
    #expect(audit.count == 3)
    #expect(audit.allSatisfy { $0["action"] == "events reprocess" })
  }

  @Test(.fileOnly) func idsMayComeFromStdin() throws {
    let (harness, ids) = try Self.harness()
    let ran = harness.run(
      arguments: ["events", "reprocess", "-", "--yes"], input: "\(ids[0])\n\n \(ids[1]) \n")
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.out.hasSuffix("Read 2 events again; 2 changed.\n"), "\(ran)")
    let damaged = try Connection(path: harness.databasePath, mode: .readWrite, busyTimeout: .seconds(1))
    try damaged.execute("UPDATE events SET dictionary = 7 WHERE event_id = '\(ids[0])'")
    let partly = harness.run("events", "reprocess", ids[0], ids[1], "--yes")
    #expect(partly.code == .partly, "\(partly)")
    let named = "the bytes of 1 event cannot be read (the first is \(ids[0]))"
    #expect(partly.notes.contains(named), "\(partly)")
    #expect(partly.out.contains("Read 1 event again"), "\(partly)")
    let unknown = harness.run("events", "reprocess", "evt_nobody", "--yes")
    #expect(unknown.code == .notFound)
    #expect(unknown.notes.contains("nothing was changed"))
    #expect(harness.run("events", "reprocess").code == .usage)
    #expect(harness.run("events", "reprocess", ids[2], "--outcome", "noted").code == .usage)
  }

  @Test func whatBelongsToARemovedProcessorIsLeft() throws {
    let harness = try OperatorHarness()
    var random = SeededGenerator(seed: 1)
    // More than one slice, with the one that can be read at its end.
    var events = (0..<EventReprocess.slice + 10).map { (EventID("evt_gone_\($0)"), "gone", [UInt8(1)]) }
    let purchase = SandboxPurchase(userID: "u1", priceID: "price_1", isSubscription: true, random: &random)
    let event = StripeSampleEvents.event(.subscription, purchase, now: ManualClock.start, random: &random)
    events.append((EventID(event.id), "stripe", event.body))
    for (id, processor, body) in events {
      _ = try harness.writer.apply(
        IngestEvent(
          app: "ios", processor: ProcessorName(processor), eventID: id, type: "", body: body,
          content: .nothing(.unparsed)), now: harness.clock.now)
    }
    let ran = harness.run("events", "reprocess", "--outcome", "unparsed", "--yes")
    #expect(ran.code == .partly, "\(ran)")
    #expect(ran.notes.contains("60 are of apps or processors that are not configured"), "\(ran)")
    #expect(ran.out == "unparsed → receipt  1\nRead 1 event again; 1 changed.\n", "\(ran)")
  }
}
