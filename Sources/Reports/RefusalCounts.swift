// Webhooks or contexts that were refused, as text: their reasons, and what to do. Pure; any thread.

public import Domain
internal import Platform

/// The refused webhooks of an app at one processor or at all together, or its refused contexts.
public struct RefusalCounts: Sendable, Equatable {
  /// By reason, as the label of the metric.
  public var counts: [String: Int64]

  public init(_ counts: [String: Int64]) { self.counts = counts }

  public var count: Int64 { counts.values.reduce(0, +) }

  /// `mismatch 3, sender 1`
  public var reasons: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \(CountText.grouped($0.value))" }.joined(
      separator: ", ")
  }

  /// `for the signature`; callbacks without one are refused for the secret in their path, or their sender.
  public var cause: String {
    var causes: [String] = []
    if hasSignature { causes.append("the signature") }
    if clock != nil { causes.append("their time") }
    if counts[Self.path] != nil { causes.append("the secret in their path") }
    if counts[Self.sender] != nil { causes.append("their sender's address") }
    if counts[Self.coded] != nil { causes.append("their Content-Encoding") }
    return "for " + causes.joined(separator: " or ")
  }

  /// What to do, as the end of a sentence.
  public func remedy(_ advice: WebhookAdvice, of app: AppSlug) -> String {
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
