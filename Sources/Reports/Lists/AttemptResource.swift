// The list of attempts to deliver. Pure, but for reading it; called from any thread.

public import Domain
internal import Formats
internal import Platform
public import Store

/// Attempts to deliver, newest first.
public enum AttemptResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "attempts", one: "attempt", emptyPage: "Nothing was sent yet.", fields,
    table: ["receipt_id", "app", "destination", "attempt", "answer", "duration_ms", "at"],
    page: ["receipt_id", "status", "duration_ms", "app", "destination", "attempt", "at"])

  private static let fields: [ListField<AttemptSummary>] = [
    .number("row") { $0.row }, .app { $0.app }.titled("App"),
    .text("destination") { $0.destination.text }.titled("Destination", .drops),
    .id("receipt_id") { $0.receiptID.map { .receipt($0) } }.titled("Receipt"),
    .number("attempt") { $0.number }.titled("Attempt", .drops),
    .time("at") { $0.report.startedAt }.titled("Begun", heading: "WHEN"),
    .number("duration_ms") { $0.report.duration.milliseconds }.titled("Took") {
      .duration($0.report.duration)
    },
    .flag("accepted") { $0.report.isAcceptance },
    .json("status") { .optional($0.report.status) }.titled("Answer", .wraps) { attempt in
      let report = attempt.report
      return .state(
        report.status.map { String($0) } ?? "no answer", report.isAcceptance ? .good : .bad,
        reason: report.isAcceptance ? nil : report.answerText)
    },
    .shown("answer").titled("Answer", .shrinks) {
      .text($0.report.answerText, $0.report.isAcceptance ? .plain : .bad)
    },
    .text("error") { $0.report.isAcceptance ? nil : $0.report.cause.text },
    .text("detail") { $0.report.detail }, .flag("ambiguous") { $0.report.isAmbiguous },
  ]
}

extension AttemptFilter: ListFilter {
  public static var resource: Resource<AttemptSummary> { AttemptResource.list }

  public func read(
    _ reader: StoreReader, limit: Int, now _: Timestamp
  ) throws(StoreFault) -> ListPage<AttemptSummary, Int64> {
    try reader.attempts(self, limit: limit)
  }

  public func total(_ reader: StoreReader) throws(StoreFault) -> ListTotal? { try reader.total(self) }

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
