// The paths of the admin listener. Pure; any thread.

internal import Domain
internal import HTTPServer

/// What a request to the admin listener asks for.
enum AdminRoute: Sendable, Equatable {
  case health, readiness, metrics
  case stylesheet, icon
  case overview, receipts, failed, event, jobs, audit
  case receipt(id: String)
  case job(id: String)
  /// A form, and what comes of it when it is sent.
  case change(receipt: String, Change)
  case replayOfFailed

  enum Change: String, Sendable, CaseIterable {
    case replay, cancel
  }

  /// The longest form.
  static let formBytesMax = 16 * 1024

  /// - Returns: nil when there is nothing at this path.
  init?(_ path: String) {
    guard path.utf8.first == UInt8(ascii: "/") else { return nil }
    let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
      .map { String(decoding: $0, as: UTF8.self) }
    switch (segments.count, segments.first) {
    case (1, ""): self = .overview
    case (1, "healthz"): self = .health
    case (1, "readyz"): self = .readiness
    case (1, "metrics"): self = .metrics
    case (1, "style.css"): self = .stylesheet
    case (1, "icon.svg"): self = .icon
    case (1, "receipts"): self = .receipts
    case (1, "failed"): self = .failed
    case (1, "event"): self = .event
    case (1, "jobs"): self = .jobs
    case (1, "audit"): self = .audit
    case (2, "jobs") where Identifier.isWellFormed(segments[1], prefix: Identifier.jobPrefix):
      self = .job(id: segments[1])
    case (2, "failed") where segments[1] == "replay": self = .replayOfFailed
    case (2, "receipts") where Self.isReceipt(segments[1]): self = .receipt(id: segments[1])
    case (3, "receipts") where Self.isReceipt(segments[1]):
      guard let change = Change(rawValue: segments[2]) else { return nil }
      self = .change(receipt: segments[1], change)
    default: return nil
    }
  }

  private static func isReceipt(_ text: String) -> Bool {
    Identifier.isWellFormed(text, prefix: Identifier.receiptPrefix)
  }

  /// The label in metrics.
  var label: String {
    switch self {
    case .health: "healthz"
    case .readiness: "readyz"
    case .metrics: "metrics"
    default: "dashboard"
    }
  }

  /// Whether it is for probes, which have no password and no name for the host: they learn whether the relay
  /// can store, and nothing else.
  var isProbe: Bool { self == .health || self == .readiness }

  /// Whether people look at it with a browser.
  var isPage: Bool { label == "dashboard" }

  var isForm: Bool {
    switch self {
    case .change, .replayOfFailed: true
    default: false
    }
  }

  var methods: [String] { ["GET", "HEAD"] + (isForm ? ["POST"] : []) }
}
