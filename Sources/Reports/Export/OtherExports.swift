// The columns of events, contexts, changes, groups of failures and payments. Pure; called from any thread.

internal import Domain
internal import Formats
public import Store

public enum EventExport {
  public static let fields: ExportFields<EventSummary> = [
    .text("id") { $0.id.text }, .text("app") { $0.app.text }, .text("processor") { $0.processor.text },
    .text("type") { $0.type }, .text("outcome") { $0.outcome }, .text("receipt_id") { $0.receiptID?.text },
    .text("received_at") { $0.receivedAt.rfc3339 },
  ]
}

public enum ContextExport {
  public static let fields: ExportFields<ContextSummary> = [
    .text("id") { $0.id.text }, .text("app") { $0.app.text }, .text("user_id") { $0.userID.text },
    .text("state") { $0.state.rawValue }, .text("receipt_id") { $0.receiptID?.text },
    .text("price_id") { $0.blob.priceID?.text }, .text("received_at") { $0.receivedAt.rfc3339 },
    .text("posted_at") { $0.postedAt.rfc3339 }, .text("expires_at") { $0.expiresAt.rfc3339 },
  ]
}

public enum AuditExport {
  /// What the change was, for people: `rate 2`, `reason http_422, processor NAME`. Empty without details.
  public static func details(_ entry: AuditEntry) -> String {
    guard case .object(let members)? = try? JSONValue(parsing: Array(entry.details.utf8)) else { return "" }
    return members.filter { $0.value != .null }.map {
      "\($0.name.replacing("_", with: " ")) \(text($0.value))"
    }
    .joined(separator: ", ")
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .array(let values): values.map(text).joined(separator: " ")
    case .object(let members): members.map { "\($0.name) \(text($0.value))" }.joined(separator: " ")
    default: value.stringValue ?? value.text
    }
  }

  public static let fields: ExportFields<AuditRecord> = [
    .number("number") { $0.row }, .text("at") { $0.entry.at.rfc3339 }, .text("actor") { $0.entry.actor },
    .text("action") { $0.entry.action }, .text("app") { $0.entry.app?.text },
    .text("subject") { $0.entry.subject }, .text("reason") { $0.entry.reason },
    // Written by receiptd; edited text is not shown.
    ExportField("details") { (try? JSONValue(parsing: Array($0.entry.details.utf8))) ?? [:] },
  ]
}

public enum FailureExport {
  public static let fields: ExportFields<FailureGroup> = [
    .text("app") { $0.app.text }, .text("processor") { $0.processor.text }, .text("reason") { $0.reason },
    .text("last_cause") { $0.cause }, .number("count") { $0.count },
    .text("oldest_at") { $0.oldest?.rfc3339 }, .text("newest_at") { $0.newest?.rfc3339 },
  ]
}

public enum PaymentExport {
  public static let fields: ExportFields<TroubledPayment> = [
    .text("id") { $0.objectID.text }, .text("app") { $0.place.app.text },
    .text("processor") { $0.place.processor.text }, .text("user_id") { $0.userID?.text },
    .text("receipt_id") { $0.receiptID?.text }, .text("what") { $0.kind.rawValue },
    .text("since") { $0.since?.rfc3339 }, .number("failures") { $0.failures },
    .text("next_call_at") { $0.nextAt?.rfc3339 },
  ]
}
