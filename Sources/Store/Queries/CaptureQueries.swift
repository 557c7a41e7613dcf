// Queries for captures. One thread at a time.

public import Domain

extension StoreReader {
  /// The open captures of an app at a processor, in the order in which they are due.
  public func openCaptures(of place: AppProcessor) throws(StoreFault) -> [OpenCapture] {
    try connection.prepare(Self.openCapturesSQL).all(
      [.text(place.app), .text(place.processor)], CaptureRow.open)
  }

  static let openCapturesSQL = """
    SELECT \(CaptureRow.openColumns) FROM captures c JOIN purchases p ON p.row_id = c.purchase_row
    WHERE c.app = ?1 AND c.processor = ?2 AND c.outcome IS NULL ORDER BY c.retry_at
    """

  /// The open capture of a payment; nil if it has none.
  public func openCapture(ofPurchase row: PurchaseRowID) throws(StoreFault) -> OpenCapture? {
    try connection.prepare(CaptureRow.openOneSQL).first([.integer(row)], CaptureRow.open)
  }

  /// The newest capture of a payment; nil if it has none.
  public func capture(ofPurchase row: PurchaseRowID) throws(StoreFault) -> StoredCapture? {
    try connection.prepare(CaptureRow.newestSQL).first([.integer(row)], CaptureRow.newest)?.capture
  }
}
