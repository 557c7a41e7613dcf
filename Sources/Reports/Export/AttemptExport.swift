// The columns of attempts to deliver. Pure; called from any thread.

internal import Domain
internal import Formats
public import Store

public enum AttemptExport {
  public static let fields: ExportFields<AttemptSummary> = [
    .number("row") { $0.row }, .text("app") { $0.app.text }, .text("destination") { $0.destination.text },
    .text("receipt_id") { $0.receiptID?.text }, .number("attempt") { $0.number },
    .text("at") { $0.report.startedAt.rfc3339 }, .number("duration_ms") { $0.report.duration.milliseconds },
    ExportField("accepted") { .bool($0.report.isAcceptance) }, .number("status") { $0.report.status },
    .text("error") { $0.report.isAcceptance ? nil : $0.report.cause.text },
    .text("detail") { $0.report.detail }, ExportField("ambiguous") { .bool($0.report.isAmbiguous) },
  ]
}
