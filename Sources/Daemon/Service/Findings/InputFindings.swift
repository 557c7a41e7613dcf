// Input of an app that was refused, or that could not be read. Pure; called from any thread.

public import Config
public import Domain
internal import Platform
public import Reports
internal import Store

extension HealthReport {
  func inputFindings(advice: (AppProcessor) -> WebhookAdvice?) -> [Finding] {
    let webhooks = Self.sorted(refusedWebhooks).compactMap { place, counts in
      Finding.webhooks(
        of: place.app, [place.processor: counts], accepted: acceptedWebhooks[place] ?? 0, Self.time
      ) { advice(AppProcessor(place.app, $0)) }
    }
    let contexts = refusedContexts.sorted { $0.key < $1.key }.compactMap { app, counts in
      Finding.contexts(of: app, counts, accepted: storedContexts[app] ?? 0, Self.time)
    }
    return webhooks + contexts
  }
}

extension Finding {
  /// Webhooks that were refused.
  /// - Parameters:
  ///   - refusals: by processor, by reason as the label of the metric.
  ///   - accepted: how many were accepted meanwhile; nil if that is not known. Anybody can send what is
  ///     refused, so a part of it may mean nothing; all of them are refused for a fault.
  ///   - time: the time in which these are counted, such as `in the last hour`.
  ///   - advice: what to do about a processor's; nil if it is not configured.
  /// - Returns: nil if none was refused.
  public static func webhooks(
    of app: AppSlug, _ refusals: [ProcessorName: [String: Int64]], accepted: Int64?, _ time: String,
    since: Timestamp? = nil, alert: AlertCondition? = nil, advice: (ProcessorName) -> WebhookAdvice?
  ) -> Finding? {
    let processors = refusals.keys.sorted()
    let refused = RefusalCounts(refusals.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) })
    guard refused.count > 0 else { return nil }
    let remedies = processors.map { processor in
      advice(processor).map { RefusalCounts(refusals[processor] ?? [:]).remedy($0, of: app) }
        ?? unconfigured(AppProcessor(app, processor))
    }
    let labels = processors.compactMap { advice($0)?.label }
    // Processors repeat a refused event for some days.
    let fetch = "receiptctl events backfill --app \(app) --since 3d"
    let isListed = processors.contains { advice($0)?.listsEvents == true }
    return input(
      .webhooks, "Webhooks are refused", refused,
      "\(CountText.of(refused.count, "webhook")) of \(app) refused \(refused.cause) \(time)",
      remedies + (isListed ? ["then fetch what was refused: \(fetch)"] : []), accepted: accepted,
      from: labels.isEmpty ? "the processor" : labels.joined(separator: " or "), app: app, since: since,
      alert: alert, commands: isListed ? [fetch] : [], processors: processors)
  }

  /// Contexts, and other requests of the app's clients, that were refused.
  /// - Parameters: as for webhooks.
  public static func contexts(
    of app: AppSlug, _ reasons: [String: Int64], accepted: Int64?, _ time: String, since: Timestamp? = nil,
    alert: AlertCondition? = nil
  ) -> Finding? {
    let refused = RefusalCounts(reasons)
    guard refused.count > 0 else { return nil }
    let remedies = Set(reasons.keys.map(ClientRemedy.init(reason:))).sorted().map { $0(app) }
    return input(
      .contexts, "Contexts are refused", refused,
      "\(CountText.of(refused.count, "request")) of the clients of \(app) refused \(time)",
      remedies + ["then look again: receiptctl doctor --only contexts"], accepted: accepted,
      from: "your apps",
      app: app, since: since, alert: alert)
  }

  private static func input(
    _ check: Check, _ title: String, _ refused: RefusalCounts, _ what: String, _ remedies: [String],
    accepted: Int64?, from sender: String, app: AppSlug, since: Timestamp?, alert: AlertCondition?,
    commands: [String] = [], processors: [ProcessorName] = []
  ) -> Finding {
    Finding(
      accepted == 0 ? .failure : .warning, check, title, accepted == 0 ? .losing : .impaired,
      "\(what) (\(refused.reasons))" + (accepted == 0 ? ", and none was accepted" : ""),
      next: remedies.joined(separator: "; ").capitalizedFirst
        + (accepted == nil ? ". Requests that did not come from \(sender) cause this, too" : ""),
      app: app, since: since, alert: alert, value: Double(refused.count), reasons: refused.counts,
      commands: commands, processors: processors)
  }

  /// Stored events that may report a payment, and could not be read.
  /// - Parameters:
  ///   - reasons: by type and field, such as `checkout.session.completed: data.object.payment_status`.
  ///   - since: when the oldest came.
  public static func events(of app: AppSlug, _ reasons: [String: Int64], since: Timestamp) -> Finding? {
    let refused = RefusalCounts(reasons)
    guard refused.count > 0 else { return nil }
    let isThin = reasons.keys.contains { $0.hasSuffix(": \(ReadingFault.thin)") }
    return Finding(
      .failure, .webhooks, "Events cannot be read", .losing, act: .open("events", ["outcome": "unparsed"]),
      "\(CountText.of(refused.count, "event")) of \(app) that may be paid purchases could not be read in "
        + "the last 24 h (\(refused.reasons)), so \(refused.count == 1 ? "it" : "they") made no receipt",
      next: (isThin
        ? "Thin events name a sale without its data: choose the payload style Snapshot for the endpoint at "
          + "the processor, or set an api_key that may read it. " : "")
        + "Look at receiptctl events list --app \(app) --outcome unparsed; after "
        + "\(isThin ? "that" : "an update of receiptd"), run: receiptctl events reprocess --app \(app) "
        + "--outcome unparsed",
      app: app, since: since, alert: .unreadableEvents, value: Double(refused.count), reasons: reasons)
  }

  /// The events could not be counted, as on damaged pages.
  static func uncounted(_ fault: StoreFault) -> Finding {
    Finding(
      .failure, .database, "Events cannot be counted", .down, "the events could not be counted (\(fault))",
      next: "Check the database: receiptctl db check")
  }

  /// What to do if the configuration does not have the app, or its processor.
  static func unconfigured(_ place: AppProcessor) -> String {
    "configure apps.\(place.app).\(place.processor) again, then run: receiptctl reload"
  }

  /// What to do about refused clients.
  private enum ClientRemedy: Int, Comparable {
    case credentials, user, keys, rate, content

    init(reason: String) {
      self =
        switch reason {
        case "limited": .rate
        case "keys_unavailable": .keys
        case "wrong_user": .user
        case "key", "malformed", "algorithm", "unknown_key", "signature", "no_expiry", "expired",
          "not_yet_valid", "issuer", "audience", "user":
          .credentials
        default: .content
        }
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    func callAsFunction(_ app: AppSlug) -> String {
      switch self {
      case .credentials:
        "compare apps.\(app).client with the key or the token that the app sends; if they differ, correct "
          + "them, then run: receiptctl reload"
      case .user: "let the app name no other user than its token's"
      case .keys: "see in receiptd's log why the keys of apps.\(app).client.tokens cannot be fetched"
      case .rate:
        "if all clients share one address, set listen.proxies; if the load is real, raise "
          + "limits.contexts_per_address and limits.contexts_per_user, then restart receiptd"
      case .content: "correct what the app sends; the answer's detail names the field"
      }
    }
  }
}

// MARK: - RefusalCounts

/// The refused webhooks of an app at one processor or at all together, or its refused contexts.
struct RefusalCounts: Sendable, Equatable {
  /// By reason, as the label of the metric.
  var counts: [String: Int64]

  init(_ counts: [String: Int64]) { self.counts = counts }

  var count: Int64 { counts.values.reduce(0, +) }

  /// `mismatch 3, sender 1`
  var reasons: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \(CountText.grouped($0.value))" }.joined(
      separator: ", ")
  }

  /// `for the signature`; callbacks without one are refused for the secret in their path, or their sender.
  var cause: String {
    var causes: [String] = []
    if hasSignature { causes.append("the signature") }
    if clock != nil { causes.append("their time") }
    if counts[Self.path] != nil { causes.append("the secret in their path") }
    if counts[Self.sender] != nil { causes.append("their sender's address") }
    if counts[Self.coded] != nil { causes.append("their Content-Encoding") }
    return "for " + causes.joined(separator: " or ")
  }

  /// What to do, as the end of a sentence.
  func remedy(_ advice: WebhookAdvice, of app: AppSlug) -> String {
    var remedies: [String] = []
    if hasSignature {
      remedies.append(
        "compare apps.\(app).\(advice.comparison); if they differ, correct them, \(advice.command)")
    }
    if let clock { remedies.append(clock) }
    if counts[Self.path] != nil { remedies.append(advice.earlierPath(of: app)) }
    if counts[Self.sender] != nil {
      remedies.append(
        "correct \(advice.addresses(of: app)), and listen.proxies, then run: receiptctl reload")
    }
    if counts[Self.coded] != nil { remedies.append("keep the proxy in front from compressing requests") }
    return remedies.joined(separator: "; ")
  }

  /// Whether a secret may be wrong. A signature is compared before its time.
  private var hasSignature: Bool {
    counts.keys.contains { ![Self.path, Self.sender, Self.coded, Self.stale, Self.future].contains($0) }
  }

  /// What to do about a correct signature with a wrong time; nil if there is none.
  private var clock: String? {
    let fault: String
    switch (counts[Self.stale] != nil, counts[Self.future] != nil) {
    case (false, false): return nil
    case (true, false): fault = "this machine's clock is ahead, or they were held back on the way"
    case (false, true): fault = "this machine's clock is behind"
    case (true, true): fault = "this machine's clock is wrong, or some were held back on the way"
    }
    return
      "those that are stale or future have the right secret: \(fault); set it with: timedatectl set-ntp true"
  }

  private static let stale = "stale"
  private static let future = "future"
  private static let path = "path"
  private static let sender = "sender"
  private static let coded = "coded"
}
