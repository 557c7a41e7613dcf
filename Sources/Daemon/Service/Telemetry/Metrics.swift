// The daemon's metrics (contract: Metrics). No user id, object id or secret is ever a label (R7).
// Thread-safe.

public import Domain
internal import Formats
internal import Platform
internal import Reports
public import Store

/// The daemon's counters and histograms.
public final class Metrics: Sendable {
  public let contexts = CounterFamily(
    "receiptd_contexts_total", "Contexts posted, by result.", labels: ["app", "result"])
  public let clientRefusals = CounterFamily(
    "receiptd_client_refusals_total",
    "Requests of clients refused for their key or token, a rate limit, or what they say, by reason.",
    labels: ["app", "reason"])
  public let claims = CounterFamily(
    "receiptd_claims_total", "Claims of purchases without a user: those offered and requested, by result.",
    labels: ["app", "result"])
  public let storePurchases = CounterFamily(
    "receiptd_store_purchases_total", "Purchases in app stores that clients reported, by result.",
    labels: ["app", "result"])
  public let keySetFetches = CounterFamily(
    "receiptd_key_set_fetches_total",
    "Fetches of the keys for checking tokens, by result.",
    labels: ["app", "result"])
  public let events = CounterFamily(
    "receiptd_events_total", "Correctly signed events, by outcome.",
    labels: ["app", "processor", "outcome"])
  public let signatureFailures = CounterFamily(
    "receiptd_signature_failures_total", "Webhooks refused for their signature.",
    labels: ["app", "reason"])
  /// The same by processor.
  public let refusedWebhooks = CounterFamily(
    "receiptd_refused_webhooks_total", "Webhooks refused for their signature, path or sender, by processor.",
    labels: ["app", "processor", "reason"])
  public let deliveries = CounterFamily(
    "receiptd_deliveries_total", "Attempts to deliver a receipt, by verdict.", labels: ["app", "verdict"])
  public let deliveriesWithoutID = CounterFamily(
    "receiptd_deliveries_without_id_total",
    "Receipts that the destination accepted without naming an import id.", labels: ["app"])
  public let unreadableReceipts = CounterFamily(
    "receiptd_unreadable_receipts_total",
    "Due receipts that could not be read, because what is stored is damaged; each again after an hour.",
    labels: ["app"])
  public let lookups = CounterFamily(
    "receiptd_lookups_total",
    "Lookups of missing data of a purchase and of the state of payments, by result.",
    labels: ["app", "processor", "result"])
  public let unreportedPayments = CounterFamily(
    "receiptd_unreported_payments_total",
    "Payments that were found paid although no callback of their processor had reported them.",
    labels: ["app", "processor"])
  public let backendTroubles = CounterFamily(
    "receiptd_backend_troubles_total",
    "Requests of apps that a payment processor could not serve, by reason.",
    labels: ["app", "processor", "reason"])
  public let captures = CounterFamily(
    "receiptd_captures_total", "Captures that ended, by outcome.", labels: ["app", "processor", "outcome"])
  public let backendCallSeconds = HistogramFamily(
    "receiptd_backend_call_seconds", "Time from a call to a payment processor to the whole answer.",
    labels: ["processor"],
    bounds: HistogramFamily.secondsBounds)
  public let deliverySeconds = HistogramFamily(
    "receiptd_delivery_seconds", "Time from sending a receipt to the whole answer.",
    bounds: HistogramFamily.secondsBounds)
  public let attemptSeconds = HistogramFamily(
    "receiptd_attempt_seconds", "Time from sending a receipt to the whole answer, by destination.",
    labels: ["app", "destination"], bounds: HistogramFamily.secondsBounds)
  public let paymentToDelivery = HistogramFamily(
    "receiptd_payment_to_delivery_seconds", "Time from the payment to the first delivery of its receipt.",
    labels: ["app", "destination"],
    bounds: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400, 604_800])
  public let commitSeconds = HistogramFamily(
    "receiptd_commit_seconds", "Time to apply and sync one batch.", bounds: HistogramFamily.secondsBounds)
  public let commitBatch = HistogramFamily(
    "receiptd_commit_batch", "Commands in one batch.", bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
  public let commitStatements = CounterFamily(
    "receiptd_commit_statements_total", "SQL statements that the batches ran.", labels: [])
  public let commitPages = CounterFamily(
    "receiptd_commit_pages_total", "Pages that the batches wrote to the database's log.", labels: [])
  public let requests = CounterFamily(
    "receiptd_http_requests_total", "Requests answered.", labels: ["route", "code"])
  public let requestSeconds = HistogramFamily(
    "receiptd_http_request_seconds", "Time from the complete request to its answer.", labels: ["route"],
    bounds: HistogramFamily.secondsBounds)

  public let longPolls = CounterFamily(
    "receiptd_long_polls_total",
    "Requests to wait for a checkout, by result: answered, abandoned by the client, or "
      + "limited, which is answered at once.",
    labels: ["result"])
  public let alerts = CounterFamily(
    "receiptd_alerts_total", "Alert notices, by result.",
    labels: ["alert", "result"])
  public let logLinesLeftOut = CounterFamily(
    "receiptd_log_lines_left_out_total", "Lines about receipts beyond the log's rate limit.", labels: [])

  public let certificates = KnownCertificates()
  public let clock = ClockSamples()
  public let contacts = DestinationContacts()

  public init() {}

  /// Counts a webhook that was refused for its signature.
  public func refusedSignature(_ place: AppProcessor, reason: String) {
    signatureFailures.increment(place.app.text, reason, place.processor.text)
    refusedWebhooks.increment(place.app.text, place.processor.text, reason)
  }

  /// The refused webhooks since the start, or their growth, by processor and reason.
  public static func refusals(_ counts: [LabelValues: UInt64]) -> [AppProcessor: [String: Int64]] {
    counts.reduce(into: [:]) { refusals, item in
      let place = AppProcessor(AppSlug(item.key.first), ProcessorName(item.key.third))
      refusals[place, default: [:]][item.key.second, default: 0] += Int64(clamping: item.value)
    }
  }

  /// The accepted webhooks since the start, or their growth, by processor. Anybody can send a hint about an
  /// unknown purchase.
  public static func accepted(_ counts: [LabelValues: UInt64]) -> [AppProcessor: Int64] {
    counts.reduce(into: [:]) { accepted, item in
      guard item.key.third != IngestEvent.Outcome.unmatched.label else { return }
      let place = AppProcessor(AppSlug(item.key.first), ProcessorName(item.key.second))
      accepted[place, default: 0] += Int64(clamping: item.value)
    }
  }

  /// The requests of clients that were refused since the start, or their growth, by reason.
  public static func clientRefusals(_ counts: [LabelValues: UInt64]) -> [AppSlug: [String: Int64]] {
    counts.reduce(into: [:]) { refusals, item in
      refusals[AppSlug(item.key.first), default: [:]][item.key.second, default: 0] +=
        Int64(clamping: item.value)
    }
  }

  /// The stored contexts since the start, or their growth.
  public static func storedContexts(_ counts: [LabelValues: UInt64]) -> [AppSlug: Int64] {
    counts.reduce(into: [:]) { stored, item in
      guard ["stored", "repeated"].contains(item.key.second) else { return }
      stored[AppSlug(item.key.first), default: 0] += Int64(clamping: item.value)
    }
  }

  /// The calls to processors that failed and the payments that they did not report, since the start: by app,
  /// processor and reason, as `ProcessorTroubles` reads them.
  public var processorTroubles: [LabelValues: UInt64] {
    var counts = backendTroubles.snapshot()
    for (key, count) in lookups.snapshot() where ProcessorTroubles.lookupResults.contains(key.third) {
      counts[key, default: 0] += count
    }
    for (key, count) in unreportedPayments.snapshot() {
      let reason = LabelValues(
        first: key.first, second: key.second, third: ProcessorTroubles.unreportedReason)
      counts[reason, default: 0] += count
    }
    return counts
  }

  /// The growth of `processorTroubles` of each app and processor.
  public static func troubles(_ counts: [LabelValues: UInt64]) -> [AppProcessor: [String: Int64]] {
    counts.reduce(into: [:]) { troubles, item in
      let place = AppProcessor(AppSlug(item.key.first), ProcessorName(item.key.second))
      troubles[place, default: [:]][item.key.third, default: 0] += Int64(clamping: item.value)
    }
  }

  /// Counts a committed batch.
  /// - Parameters:
  ///   - batch: its number of commands.
  ///   - work: what the database did for it.
  public func committed(batch: Int, seconds: Double, work: EngineWork) {
    commitStatements.add(UInt64(work.statements))
    commitPages.add(UInt64(work.logPages))
    commitBatch.observe(Double(batch))
    commitSeconds.observe(seconds)
  }

  /// Counts an answered request.
  /// - Parameters:
  ///   - route: the route's label.
  ///   - seconds: from the complete request to its answer.
  public func answered(route: String, status: Int, seconds: Double) {
    requests.increment(route, status == 200 ? "200" : String(status))
    requestSeconds.observe(seconds, route)
  }

  /// Counts an attempt to deliver a receipt.
  public func attempted(at place: AppDestination, verdict: Verdict, duration: Duration) {
    deliveries.increment(place.app.text, verdict.label)
    if verdict.lacksImportID { deliveriesWithoutID.increment(place.app.text) }
    deliverySeconds.observe(duration.inSeconds)
    attemptSeconds.observe(duration.inSeconds, place.app.text, place.destination.text)
  }

  /// Counts receipts that were delivered for the first time.
  public func delivered(_ deliveries: [FirstDelivery]) {
    for delivery in deliveries {
      paymentToDelivery.observe(
        delivery.sincePayment.inSeconds, delivery.place.app.text, delivery.place.destination.text)
    }
  }

  /// Writes all families.
  /// - Parameter places: the configured apps with their processors. The counters of which alerts watch each
  ///   growth have samples for all of them from the start.
  public func write(to text: inout MetricsText, places: [AppProcessor] = []) {
    func zeros(_ reasons: [String]) -> [LabelValues] {
      places.flatMap { place in
        reasons.map { LabelValues(first: place.app.text, second: place.processor.text, third: $0) }
      }
    }
    for family in [
      contexts, clientRefusals, claims, storePurchases, keySetFetches, events, signatureFailures,
      refusedWebhooks, deliveries,
      deliveriesWithoutID,
    ] { family.write(to: &text) }
    unreadableReceipts.write(
      to: &text,
      zeros: Set(places.map(\.app.text)).map { LabelValues(first: $0, second: "", third: "") })
    lookups.write(to: &text, zeros: zeros(ProcessorTroubles.lookupResults))
    unreportedPayments.write(to: &text, zeros: zeros([""]))
    backendTroubles.write(to: &text, zeros: zeros(ProcessorTroubles.backendReasons))
    for family in [
      captures, commitStatements, commitPages, requests, longPolls, alerts, logLinesLeftOut,
    ] { family.write(to: &text) }
    text.gauge(
      "receiptd_certificate_expires_timestamp_seconds",
      "When the certificate of the listener or of a destination expires, in Unix time.",
      certificates.all.sorted { $0.key.label < $1.key.label }.map {
        ([("place", $0.key.label)], Double($0.value.unixMilliseconds / 1000))
      })
    for family in [
      deliverySeconds, attemptSeconds, paymentToDelivery, backendCallSeconds, commitSeconds, commitBatch,
      requestSeconds,
    ] {
      family.write(to: &text)
    }
  }
}

// MARK: - KnownCertificates

// When certificates expire, as the listener and deliveries show it, for alerts and metrics. Thread-safe.

/// When certificates expire.
public final class KnownCertificates: Sendable {
  /// Whose certificate it is.
  public enum Place: Sendable, Hashable {
    /// That of the public listener, which it got at its start.
    case listener
    /// That of the server of a destination.
    case destination(AppDestination)

    /// For metrics: `listener`, or the app and the name of its destination.
    public var label: String {
      switch self {
      case .listener: "listener"
      case .destination(let place): "\(place.app)/\(place.destination)"
      }
    }
  }

  private let ends = Monitor<[Place: Timestamp]>([:])

  /// The newest known end of each certificate.
  public var all: [Place: Timestamp] { ends.withLock { $0 } }

  public func note(_ expiresAt: Timestamp, of place: Place) { ends.withLock { $0[place] = expiresAt } }

  /// Drops what is not configured any more.
  public func keep(_ isConfigured: (AppDestination) -> Bool) {
    ends.withLock { ends in
      ends = ends.filter { place, _ in
        if case .destination(let destination) = place { isConfigured(destination) } else { true }
      }
    }
  }
}
