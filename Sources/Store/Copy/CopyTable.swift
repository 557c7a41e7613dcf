// Which tables a copy of the database has, and which not. Values.

/// A table whose rows are copied.
public struct CopyTable: Sendable, Equatable {
  public let name: String
  /// Its primary key, whose order is the same on all engines.
  public let key: [String]

  private init(_ name: String, key: String...) {
    self.name = name
    self.key = key.isEmpty ? ["row_id"] : key
  }

  /// Each table after those to which its rows refer.
  public static let all = [
    CopyTable("purchases"), CopyTable("contexts"), CopyTable("past_purchases"),
    CopyTable("awaited_contexts", key: "context_id", "app", "purchase_row"), CopyTable("events"),
    CopyTable("attempts"), CopyTable("look_ups", key: "purchase_row"), CopyTable("captures"),
    CopyTable("claims", key: "id"), CopyTable("claim_key"),
    CopyTable("announcements", key: "purchase_row"),
    CopyTable("payers", key: "processor", "account", "payer", "app", "customer_id"),
    CopyTable("customer_users", key: "customer_id", "app", "processor", "source", "user_id"),
    CopyTable("jobs"),
    CopyTable("job_receipts", key: "job_row", "position"),
    CopyTable("job_counts", key: "job_row", "outcome", "reason"),
    CopyTable("breakers", key: "app", "destination"),
    CopyTable("pauses", key: "app"),
    CopyTable("receipt_counts", key: "app", "state", "reason", "last_cause", "processor"),
    CopyTable("acknowledgements", key: "app", "processor", "reason", "last_cause"),
    CopyTable("delivery_counts", key: "minute", "app"),
    CopyTable("latencies", key: "app", "destination", "minutes", "slot", "kind", "bucket"),
    CopyTable("failure_counts", key: "minute", "app", "reason", "last_cause"),
    CopyTable("join_counts", key: "app", "hour", "kind"),
    CopyTable("alerts", key: "destination", "condition", "app"), CopyTable("audit"),
    CopyTable("erasure_key"), CopyTable("erased_ids", key: "hash"), CopyTable("service"),
    CopyTable("backfills", key: "app", "processor"),
  ]

  /// The other tables of any engine, and why they are not copied.
  public static let others = [
    "schema_version": "the target has its own schema", "admin_key": "the target has its own key",
    "sequences": "`CopyEngine.nextPurchaseRow` is copied",
    "keys": "made from the copied rows", "recent_keys": "made from the copied rows",
    "key_tail": "made from the copied rows", "app_locks": "made from the copied rows",
    "search_state": "made from the copied rows", "search_runs": "made from the copied rows",
    "search_blocks": "made from the copied rows",
    "service_reports": "about a receiptd that has stopped, and about backups of this database",
    "writers": "about programs that have ended", "leases": "about programs that have ended",
    "file_marks": "about the file itself",
    "instances": "about programs that have ended", "heartbeats": "about programs that have ended",
    "copies": "about the database itself",
  ]
}

/// A column of a table that is copied.
public struct CopyColumn: Sendable, Equatable {
  /// What a column contains, or NULL.
  public enum Kind: Sendable {
    case integer, text, blob
  }

  public let name: String
  public let kind: Kind

  public init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }
}
