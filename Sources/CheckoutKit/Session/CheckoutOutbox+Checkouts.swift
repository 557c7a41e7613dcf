// Where a session keeps its checkouts. Thread-safe: each file is replaced at once.

extension CheckoutOutbox {
  /// The checkouts that are not over; nil if they are stored and cannot be read yet.
  func openCheckouts() -> OpenCheckouts? {
    guard let folder else { return OpenCheckouts() }
    return folder.openCheckouts()
  }

  /// Stores the checkouts that are not over. If it fails, they are kept while the app runs.
  func save(_ checkouts: OpenCheckouts) { folder?.save(checkouts) }
}
