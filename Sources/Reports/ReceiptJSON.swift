// A receipt as `--json` and the API have it: scripts rely on the field names and their order (contract:
// receiptctl). Pure.

internal import Domain
public import Formats
public import Store

/// All that is known of a receipt, for other programs.
public enum ReceiptJSON {
  /// The fields of a list, then the session and the customer, the context's blob, the payment with its
  /// captures and its planned lookup, every attempt, the events, and the operators' changes.
  /// - Parameter withBodies: whether the reader may see `ply_context`, and the answers, which may repeat it.
  public static func detail(
    of detail: ReceiptDetail, audit: [AuditRecord] = [], jobs: [(job: Job, outcome: JobOutcome)] = [],
    withBodies: Bool = true
  ) -> JSONValue {
    let changes = audit.reversed().map { record -> JSONValue in
      [
        "at": .time(record.entry.at), "actor": .string(record.entry.actor),
        "action": .string(record.entry.action), "why": .optional(record.entry.reason),
      ]
    }
    let purchase = detail.record.purchase
    return .object(
      ReceiptResource.list.members(of: detail.record) + [
        .init(name: "session_id", value: .optional(purchase.sessionID?.text)),
        .init(name: "customer_id", value: .optional(purchase.customerID?.text)),
        .init(name: "names", value: .array(purchase.allNames.map(name))),
        .init(name: "ply_context", value: .optional(withBodies ? purchase.context?.text : nil)),
        .init(name: "payment", value: payment(purchase)),
        .init(name: "captures", value: .array(detail.captures.map(capture))),
        .init(name: "lookup", value: detail.lookup.map(lookup) ?? .null),
        .init(name: "near_misses", value: .array(detail.nearMisses.map(nearMiss))),
        .init(
          name: "attempt_log", value: .array(detail.attempts.map { attempt($0, withBody: withBodies) })),
        .init(name: "events", value: .array(detail.events.map { EventResource.list.object(of: $0) })),
        .init(name: "changes", value: .array(changes)), .init(name: "jobs", value: .array(jobs.map(job))),
      ])
  }

  private static func name(_ name: NamedUser) -> JSONValue {
    [
      "user_id": .string(name.id.text), "source": .string(IdentityText.word(name.source)),
      "standing": .string(IdentityText.word(name.standing)),
    ]
  }

  /// Null for a purchase that did not start at the relay.
  private static func payment(_ purchase: Purchase) -> JSONValue {
    guard let payment = purchase.payment else { return .null }
    return [
      "outcome_known": .bool(!purchase.awaitsOutcome), "amount": .optional(payment.amount),
      "currency": .optional(payment.currency), "captured": payment.isCaptured.map(JSONValue.bool) ?? .null,
    ]
  }

  private static func capture(_ capture: CaptureSummary) -> JSONValue {
    [
      "ordered_at": .time(capture.orderedAt), "outcome": .optional(capture.outcome?.rawValue),
      "ended_at": .time(capture.endedAt), "failures": .integer(capture.failures),
      "next_call_at": .time(capture.outcome == nil ? capture.retryAt : nil),
      "last_trouble": .optional(capture.lastTrouble),
    ]
  }

  private static func nearMiss(_ miss: NearMiss) -> JSONValue {
    let (cause, seconds, other): (String, Int64?, String?) =
      switch miss.cause {
      case .early(let span): ("early", span.components.seconds, nil)
      case .late(let span): ("late", span.components.seconds, nil)
      case .claimed(let receipt): ("claimed", nil, receipt?.text)
      case .otherPrice(let price): ("other_price", nil, price.text)
      case .otherUser(let isSimilar): (isSimilar ? "similar_user" : "other_user", nil, nil)
      case .possible: ("possible", nil, nil)
      }
    return [
      "context_id": .string(miss.contextID.text), "user_id": .string(miss.userID.text),
      "posted_at": .time(miss.postedAt), "cause": .string(cause), "seconds": .optional(seconds),
      "detail": .optional(other),
    ]
  }

  private static func lookup(_ lookup: PlannedLookup) -> JSONValue {
    ["due_at": .time(lookup.dueAt), "attempts": .integer(lookup.attempts)]
  }

  private static func job(_ touched: (job: Job, outcome: JobOutcome)) -> JSONValue {
    let job = touched.job
    return [
      "id": .string(job.id.text), "kind": .string(job.request.kind.rawValue), "at": .time(job.createdAt),
      "actor": .string(job.request.actor), "why": .optional(job.request.reason),
      "outcome": .string(touched.outcome.rawValue),
    ]
  }

  private static func attempt(_ attempt: LoggedAttempt, withBody: Bool) -> JSONValue {
    let report = attempt.report
    return [
      "number": .integer(attempt.number), "at": .time(report.startedAt),
      "duration_ms": .integer(report.duration.milliseconds), "status": .optional(report.status),
      "error": .optional(report.error), "detail": .optional(report.detail),
      "ambiguous": .bool(report.isAmbiguous),
      // Invalid UTF-8 is repaired: the stored part may end inside a character.
      "response": withBody ? .string(String(decoding: report.response, as: UTF8.self)) : .null,
    ]
  }
}
