// The columns of receipts. Pure; called from any thread.

internal import Domain
internal import Formats
public import Store

public enum ReceiptExport {
  public static let fields: ExportFields<PurchaseRecord> = [
    .text("id") { $0.receipt?.id.text }, .text("app") { $0.app.text },
    .text("state") { $0.receipt?.state.rawValue }, .text("reason") { $0.receipt?.reason?.text },
    .text("user_id") { $0.purchase.userID?.text }, .text("processor") { $0.purchase.key.processor.text },
    .text("object_type") { $0.purchase.key.type.text }, .text("object_id") { $0.purchase.key.id.text },
    // The content that will be sent; before that is fixed, the values known so far.
    .text("price_id") { ($0.receipt?.priceID ?? $0.purchase.prices.first)?.text },
    ExportField("price_mismatch") { .bool($0.receipt?.priceMismatch ?? false) },
    ExportField("context_disputed") { .bool($0.receipt?.contextDisputed ?? false) },
    .text("context_id") { $0.purchase.contextID?.text }, .text("import_id") { $0.receipt?.importID },
    .number("attempts") { $0.receipt?.attempts ?? 0 }, .number("last_status") { $0.receipt?.lastStatus },
    .text("last_cause") { $0.receipt?.lastCause?.text },
    .text("created_at") { $0.receipt?.createdAt.rfc3339 },
    .text("ready_at") { $0.receipt?.readyAt?.rfc3339 },
    .text("next_attempt_at") { $0.receipt?.nextAttemptAt?.rfc3339 },
    .text("delivered_at") { $0.receipt?.deliveredAt?.rfc3339 }, .text("updated_at") { $0.updatedAt.rfc3339 },
  ]
}

// MARK: - AttemptExport

// The columns of attempts to deliver. Pure; called from any thread.

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
