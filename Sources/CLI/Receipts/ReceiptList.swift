// `receipts list`: one line per receipt, newest first.

internal import Config
internal import Domain
internal import Reports
internal import Store
internal import Terminal

enum ReceiptList {
  static func run(_ session: Session) throws -> ExitCode {
    let page = try Page(session)
    let configuration = try session.configuration()
    var filter = try ReceiptsCommands.filter(session, configuration)
    if let after = page.after.map(ReceiptID.init) {
      guard after.isWellFormed else {
        throw session.usage("--after must be the id of a receipt, rcp_…")
      }
      filter.after = after
    }
    let reader = try session.reader(configuration)
    return try page.show(session, ReceiptExport.fields) {
      table($0, session, configuration)
    } word: { (last: ReceiptID) in
      last.text
    } fetch: { after, limit in
      filter.after = after ?? filter.after
      return try reader.receiptPage(filter, limit: limit)
    }
  }

  static func table(
    _ records: some Collection<PurchaseRecord>, _ session: Session, _ configuration: Configuration
  ) -> Table {
    let several = configuration.hasSeveralProcessors(records.map(\.purchase.key.processor))
    var table = Table(
      [
        .init("ID"), .init("STATE"), .init("REASON"), .init("APP", canDrop: true),
      ] + (several ? [.init("PROCESSOR", canDrop: true)] : []) + [
        .init("USER", canShrink: true),
        .init("OBJECT", canDrop: true),
        .init("ATTEMPTS", alignment: .trailing, canDrop: true),
        .init("LAST", alignment: .trailing, canDrop: true), .init("MADE"),
      ], emptyMessage: "No receipts.")
    for record in records {
      guard let receipt = record.receipt else { continue }
      let processor = several ? [Table.Cell(record.purchase.key.processor.text)] : []
      table.add(
        [
          Table.Cell(receipt.id.text), Table.Cell(receipt.state.rawValue, receipt.state.style),
          Table.Cell(receipt.reasonText ?? "-"), Table.Cell(record.app.text),
        ] + processor + [
          Table.Cell(record.purchase.userID?.text ?? "-"),
          Table.Cell(record.purchase.key.id.text), Table.Cell(count: receipt.attempts),
          Table.Cell(receipt.lastStatus.map(String.init) ?? "-"),
          Table.Cell(session.relative(receipt.createdAt)),
        ])
    }
    return table
  }
}

extension ReceiptState {
  /// Its style in a table.
  var style: Style {
    switch self {
    case .waiting: .cyan
    case .pending: .yellow
    case .delivered: .green
    case .failed: .red
    case .cancelled: .dim
    }
  }
}
