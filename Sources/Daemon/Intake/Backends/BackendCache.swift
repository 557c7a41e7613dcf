// Answers of processors that a merchant backend may use again, such as an app's limits for payments. A value;
// the backend worker's thread.

internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Platform

/// Answers by app, processor and target.
struct BackendCache {
  /// The most answers of an app's processor.
  static let entriesMax = 16
  /// A longer answer is not kept.
  static let bodyBytesMax = 64 << 10
  /// How long an answer is fresh that does not say so; and at most (RFC 9111 §4.2).
  static let ageDefault: Duration = .minutes(5)
  static let ageMax: Duration = .hours(1)

  private struct Entry {
    var reply: BackendReply
    var freshUntil: MonotonicInstant
  }

  private var entries: [AppProcessor: [String: Entry]] = [:]

  /// The fresh answer to an earlier call with this target.
  func reply(to target: String, of place: AppProcessor, now: MonotonicInstant) -> BackendReply? {
    guard let entry = entries[place]?[target], now < entry.freshUntil else { return nil }
    return entry.reply
  }

  /// Keeps an answer, if it is one that may be kept.
  mutating func store(
    _ result: TransferResult, to target: String, of place: AppProcessor, now: MonotonicInstant
  ) {
    guard result.status == 200, result.failure == nil, result.body.count <= Self.bodyBytesMax else { return }
    let fields = result.headers.filter { $0.name.lowercased() == "cache-control" }.map(\.value)
    let age = Self.freshness(fields)
    guard age > .zero else { return }
    var kept = entries[place, default: [:]].filter { now < $0.value.freshUntil }
    kept[target] = Entry(reply: BackendReply(result), freshUntil: now.advanced(by: age))
    if kept.count > Self.entriesMax, let oldest = kept.min(by: { $0.value.freshUntil < $1.value.freshUntil })
    {
      kept[oldest.key] = nil
    }
    entries[place] = kept
  }

  mutating func removeAll() { entries = [:] }

  /// How long an answer is fresh.
  /// - Parameter fields: the values of `Cache-Control` (RFC 9111 §5.2.2).
  static func freshness(_ fields: [String]) -> Duration {
    var age: Duration?
    for directive in fields.joined(separator: ",").split(separator: ",") {
      let words = directive.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased()
        .split(separator: "=", maxSplits: 1)
      switch words.first {
      case "no-store", "no-cache": return .zero
      case "max-age":
        let digits = words.count == 2 ? words[1] : ""
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .zero }
        // More digits than an integer holds: longer than the maximum.
        age = Int64(digits).map { min(ageMax, .seconds($0)) } ?? ageMax
      default: break
      }
    }
    return age ?? ageDefault
  }
}
