// The conditions by which attempts to deliver are filtered. Pure; called from any thread.

internal import Domain
internal import Platform
public import Store

extension AttemptFilter: ListFilter {
  public static let fields: [FilterField<AttemptFilter>] =
    [
      .app { $0.app = $1 },
      .id("destination", "DESTINATION", "Destination", "Only those to this destination") {
        $0.destination = DestinationName($1)
      },
      .status("Status", "Only those that were answered with this HTTP status: 503, or 5xx for a class") {
        $0.status = $1
      },
      FilterField(
        "error", "ERROR", "Error", "Only those that failed so, such as timeout, connect_failed or http_503"
      ) { filter, text, _ in
        filter.error = text
        if text.isEmpty { return "must not be empty" }
        return Reason.fault(inCause: text).map { "is wrong: \($0)" }
      },
      .flag("failed", "Failed", "Only those that failed") { $0.isFailed = true },
      FilterField(
        "slower", "D", "Took at least", "Only those that took at least this long, such as 500ms or 2s"
      ) { filter, text, _ in
        filter.slower = DurationText.duration(parsing: text)
        return filter.slower == nil ? "must be a time such as 500ms or 2s, not '\(text)'" : nil
      },
    ] + FilterField.times("begun", since: { $0.since = $1 }, until: { $0.until = $1 })
}

extension FilterField {
  static func status(
    _ label: String, _ help: String, set: @escaping @Sendable (inout Filter, AnswerStatus) -> Void
  ) -> FilterField {
    FilterField("status", "STATUS", label, help) { filter, text, _ in
      guard let status = AnswerStatus(text) else {
        return "must be an HTTP status such as 503, or a class such as 5xx"
      }
      set(&filter, status)
      return nil
    }
  }
}
