// The text of a scrape: Prometheus' text format 0.0.4.

import Domain
import HTTPServer
import Partners
import Platform
import SQLiteStore
import Store
import Testing

@testable import Service

/// A parsed scrape, as strict as the format.
struct ScrapedText {
  var kinds: [String: String] = [:]
  var samples: [(name: String, labels: String, value: String)] = []
  var faults: [String] = []

  init(_ text: String) {
    let name = "[a-zA-Z_:][a-zA-Z0-9_:]*"
    let label = #"[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*""#
    guard text.isEmpty || text.hasSuffix("\n"),
      let comment = try? Regex(
        "# (HELP|TYPE) (\(name)) (.+)", as: (Substring, Substring, Substring, Substring).self),
      let sample = try? Regex(
        "(\(name))(?:\\{(\(label)(?:,\(label))*)\\})? ([-+0-9.eE]+|\\+Inf)",
        as: (Substring, Substring, Substring?, Substring).self)
    else {
      faults.append("the text does not end with a line feed")
      return
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if let match = line.wholeMatch(of: comment) {
        if match.1 == "TYPE" { note(type: String(match.3), of: String(match.2)) }
      } else if let match = line.wholeMatch(of: sample) {
        samples.append((String(match.1), String(match.2 ?? ""), String(match.3)))
      } else {
        faults.append("not a line of the format: \(line)")
      }
    }
    for sample in samples where kinds[family(of: sample.name)] == nil {
      faults.append("\(sample.name) has no type")
    }
    let series = samples.map { $0.name + "{" + $0.labels + "}" }
    if Set(series).count != series.count { faults.append("a series comes twice") }
  }

  private mutating func note(type: String, of name: String) {
    if kinds.updateValue(type, forKey: name) != nil { faults.append("\(name) comes twice") }
  }

  private func family(of name: String) -> String {
    for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
      let family = String(name.dropLast(suffix.count))
      if kinds[family] == "histogram" { return family }
    }
    return name
  }

  func value(_ name: String, _ labels: String = "") -> String? {
    samples.first { $0.name == name && $0.labels == labels }?.value
  }
}

@Suite("Metrics") struct MetricsTests {
  private static func text(_ write: (inout MetricsText) -> Void) -> String {
    var text = MetricsText()
    write(&text)
    return text.text
  }

  @Test func `A counter has one sample for each set of labels, in order`() {
    let family = CounterFamily("x_total", "Things.", labels: ["app", "result"])
    #expect(Self.text { family.write(to: &$0) } == "# HELP x_total Things.\n# TYPE x_total counter\n")
    for app in ["b", "a", "b"] { family.increment(app, "stored") }
    family.increment("a", "refused")
    #expect(
      Self.text { family.write(to: &$0) } == """
        # HELP x_total Things.
        # TYPE x_total counter
        x_total{app="a",result="refused"} 1
        x_total{app="a",result="stored"} 1
        x_total{app="b",result="stored"} 2

        """)
  }

  @Test func `A counter loses no concurrent increment`() throws {
    let family = CounterFamily("x_total", "Things.", labels: ["app"])
    let histogram = HistogramFamily("y", "Times.", bounds: [0.5])
    let threads = try (0..<4).map { _ in
      try WorkerThread(name: "counting") {
        for _ in 0..<2500 {
          family.increment("a")
          histogram.observe(1)
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(ScrapedText(Self.text { family.write(to: &$0) }).value("x_total", "app=\"a\"") == "10000")
    #expect(ScrapedText(Self.text(histogram.write)).value("y_count") == "10000")
  }

  @Test func `A histogram's buckets are cumulative, and +Inf is its count`() {
    let family = HistogramFamily("x_seconds", "Times.", labels: ["route"], bounds: [0.1, 0.5, 1])
    for value in [0, 0.1, 0.100001, 0.5, 0.75, 1, 1.5, 100] { family.observe(value, "a") }
    #expect(
      Self.text { family.write(to: &$0) } == """
        # HELP x_seconds Times.
        # TYPE x_seconds histogram
        x_seconds_bucket{route="a",le="0.1"} 2
        x_seconds_bucket{route="a",le="0.5"} 4
        x_seconds_bucket{route="a",le="1"} 6
        x_seconds_bucket{route="a",le="+Inf"} 8
        x_seconds_sum{route="a"} 103.950001
        x_seconds_count{route="a"} 8

        """)
  }

  @Test func `The bounds of every histogram ascend`() {
    let metrics = Metrics()
    for family in [
      metrics.deliverySeconds, metrics.commitSeconds, metrics.commitBatch, metrics.requestSeconds,
    ] {
      #expect(zip(family.bounds, family.bounds.dropFirst()).allSatisfy { $0 < $1 })
      #expect(!family.bounds.isEmpty)
    }
  }

  @Test func `Any value of a label is escaped`() {
    let values = ["plain", "a\"b", "a\\b", "a\nb", "\\\"\n", "\",evil=\"1", "} 1\nx 2", "é🧾", ""]
    let text = Self.text { text in
      text.gauge("x", "Things.", values.map { ([("v", $0)], 1) })
    }
    let scraped = ScrapedText(text)
    #expect(scraped.faults.isEmpty)
    #expect(scraped.samples.count == values.count)
    #expect(scraped.value("x", #"v="a\"b""#) == "1")
    #expect(scraped.value("x", #"v="a\\b""#) == "1")
    #expect(scraped.value("x", #"v="a\nb""#) == "1")
    #expect(scraped.value("x", #"v="\\\"\n""#) == "1")
  }

  @Test(
    "Numbers are written in the format's syntax",
    arguments: [
      (0, "0"), (-0.0, "0"), (1, "1"), (1.5, "1.5"), (1e15, "1000000000000000"), (0.001, "0.001"),
      (1e300, "1e+300"),
    ])
  func numbers(value: Double, written: String) { #expect(MetricsText.number(value) == written) }

  @Test func `Counters that alerts watch have a sample for each configured processor before they count`() {
    let metrics = Metrics()
    let places: [AppProcessor] = [AppProcessor("shop", "stripe"), AppProcessor("shop", "toy")]
    func scrape() -> ScrapedText { ScrapedText(Self.text { metrics.write(to: &$0, places: places) }) }
    let scraped = scrape()
    #expect(scraped.faults.isEmpty)
    for processor in ["stripe", "toy"] {
      let labels = "app=\"shop\",processor=\"\(processor)\""
      #expect(scraped.value("receiptd_unreported_payments_total", labels) == "0")
      for trouble in BackendTrouble.allCases {
        let labels = "\(labels),reason=\"\(trouble.rawValue)\""
        #expect(scraped.value("receiptd_backend_troubles_total", labels) == "0")
      }
      for result in ["failed", "refused"] {
        #expect(scraped.value("receiptd_lookups_total", "\(labels),result=\"\(result)\"") == "0")
      }
    }
    metrics.unreportedPayments.increment("shop", "toy")
    let later = scrape()
    #expect(later.value("receiptd_unreported_payments_total", #"app="shop",processor="toy""#) == "1")
    #expect(later.value("receiptd_unreported_payments_total", #"app="shop",processor="stripe""#) == "0")
    #expect(metrics.processorTroubles.count == 1, "a zero is no trouble")
  }

  /// Every family that docs/metrics.md has, with its type.
  private static let promised = [
    "receiptd_contexts_total": "counter", "receiptd_events_total": "counter",
    "receiptd_claims_total": "counter", "receiptd_store_purchases_total": "counter",
    "receiptd_unmatched_purchases": "gauge",
    "receiptd_user_conflicts": "gauge",
    "receiptd_client_refusals_total": "counter", "receiptd_key_set_fetches_total": "counter",
    "receiptd_signature_failures_total": "counter", "receiptd_receipts": "gauge",
    "receiptd_oldest_pending_seconds": "gauge", "receiptd_deliveries_total": "counter",
    "receiptd_deliveries_without_id_total": "counter", "receiptd_unreadable_receipts_total": "counter",
    "receiptd_certificate_expires_timestamp_seconds": "gauge", "receiptd_ready": "gauge",
    "receiptd_backend_troubles_total": "counter", "receiptd_backend_call_seconds": "histogram",
    "receiptd_captures_total": "counter", "receiptd_refused_webhooks_total": "counter",
    "receiptd_processor_receipts": "gauge", "receiptd_delivery_seconds": "histogram",
    "receiptd_attempt_seconds": "histogram", "receiptd_payment_to_delivery_seconds": "histogram",
    "receiptd_breaker_open": "gauge", "receiptd_app_paused": "gauge",
    "receiptd_app_pause_ends_timestamp_seconds": "gauge", "receiptd_joined_receipts": "gauge",
    "receiptd_posted_contexts": "gauge", "receiptd_unclaimed_contexts": "gauge",
    "receiptd_commit_seconds": "histogram", "receiptd_commit_batch": "histogram",
    "receiptd_commit_statements_total": "counter", "receiptd_commit_pages_total": "counter",
    "receiptd_lookups_total": "counter", "receiptd_alerts_total": "counter",
    "receiptd_unreported_payments_total": "counter", "receiptd_pending_lookups": "gauge",
    "receiptd_abandoned_lookups": "gauge", "receiptd_unanswered_lookups": "gauge",
    "receiptd_open_captures": "gauge", "receiptd_long_polls": "gauge",
    "receiptd_oldest_capture_seconds": "gauge", "receiptd_abandoned_captures": "gauge",
    "receiptd_log_lines_left_out_total": "counter", "receiptd_log_lines_dropped_total": "counter",
    "receiptd_long_polls_total": "counter", "process_start_time_seconds": "gauge",
    "receiptd_http_connections": "gauge", "receiptd_http_connections_max": "gauge",
    "receiptd_disk_free_bytes": "gauge", "receiptd_database_bytes": "gauge",
    "receiptd_last_backup_timestamp_seconds": "gauge",
    "receiptd_write_queue": "gauge", "receiptd_http_requests_total": "counter",
    "receiptd_http_request_seconds": "histogram", "receiptd_build_info": "gauge",
    "process_cpu_seconds_total": "counter", "process_resident_memory_bytes": "gauge",
    "process_virtual_memory_bytes": "gauge", "process_open_fds": "gauge", "process_max_fds": "gauge",
  ]

  private static func scrape(_ bench: Bench, places: [AppProcessor]) throws -> String {
    try Scrape(
      metrics: bench.metrics, places: places, queueDepth: 7, isReady: true, droppedLogLines: 3,
      listener: ListenerGauges(load: ServerLoad(connections: 5, connectionsMax: 10), longPolls: 2),
      space: SQLiteEngine(guest: bench.path).space, now: bench.now
    ).text(reader: bench.reader)
  }

  @Test func `A whole scrape is well-formed, has every promised family, and has the right values`() throws {
    let destination = try ScriptedDestination()
    let bench = try Bench([Bench.app(url: destination.url), Bench.app("other")])
    try bench.sell(1)
    try bench.waitFor(1, .delivered)
    try bench.store(
      SaveServiceReport(
        ServiceReport(name: .backup, at: Timestamp(unixSeconds: 1_795_168_800), content: "{}")))
    bench.metrics.answered(route: "contexts", status: 201, seconds: 0.003)
    bench.metrics.contexts.increment("shop", "stored")
    bench.metrics.events.increment("shop", "stripe", "receipt")
    bench.metrics.refusedSignature(AppProcessor("shop", "stripe"), reason: "mismatch")
    bench.metrics.refusedSignature(AppProcessor("shop", "toy"), reason: "mismatch")
    bench.stop()
    let scraped = ScrapedText(
      try Self.scrape(bench, places: ["shop", "other"].map { AppProcessor($0, "stripe") }))
    #expect(scraped.faults.isEmpty)
    #expect(scraped.kinds == Self.promised)
    #expect(scraped.value("receiptd_receipts", #"app="shop",state="delivered""#) == "1")
    #expect(scraped.value("receiptd_receipts", #"app="other",state="failed""#) == "0")
    #expect(scraped.value("receiptd_open_captures", #"app="shop",processor="stripe""#) == "0")
    #expect(scraped.value("receiptd_signature_failures_total", #"app="shop",reason="mismatch""#) == "2")
    #expect(
      scraped.value("receiptd_refused_webhooks_total", #"app="shop",processor="toy",reason="mismatch""#)
        == "1")
    #expect(
      scraped.value("receiptd_processor_receipts", #"app="shop",processor="stripe",state="delivered""#)
        == "1")
    #expect(scraped.value("receiptd_deliveries_total", #"app="shop",verdict="delivered""#) == "1")
    #expect(scraped.value("receiptd_unreported_payments_total", #"app="other",processor="stripe""#) == "0")
    #expect(scraped.value("receiptd_write_queue") == "7")
    #expect(scraped.value("receiptd_log_lines_dropped_total") == "3")
    #expect(scraped.value("receiptd_http_connections") == "5")
    #expect(scraped.value("receiptd_long_polls") == "2")
    #expect(scraped.value("receiptd_last_backup_timestamp_seconds") == "1795168800")
    #expect(scraped.value("receiptd_breaker_open", #"app="shop""#) == "0")
    // A removed app keeps its receipts; nothing of it can stop any more.
    let open = SaveBreaker(AppDestination("shop", "purchasely"), Breaker(state: .open, since: bench.now))
    _ = try StoreWriter(path: bench.path, role: .guest, rules: bench.directory.rules).apply(
      open, now: bench.now)
    let without = ScrapedText(try Self.scrape(bench, places: [AppProcessor("other", "stripe")]))
    #expect(without.value("receiptd_receipts", #"app="shop",state="delivered""#) == "1")
    #expect(without.value("receiptd_breaker_open", #"app="shop""#) == nil)
    #expect(without.value("receiptd_app_paused", #"app="shop""#) == nil)
    #expect(without.value("receiptd_breaker_open", #"app="other""#) == "0")
    // No user, object or secret is ever a label (R7).
    let text = scraped.samples.map(\.labels).joined()
    for word in ["user-1", "sub_1", "ply-key"] { #expect(!text.contains(word), "\(word)") }
  }
}
