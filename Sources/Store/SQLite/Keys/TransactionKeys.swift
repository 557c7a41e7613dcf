// Keys that follow the transactions of their connection.

internal import Store

/// Keys that change with the transactions of their connection.
protocol TransactionKeys: KeyIndex {
  /// Called at the start of a transaction that writes.
  func begin() throws(SQLiteError)
  /// Called right before the commit: writes what has changed.
  func beforeCommit() throws(SQLiteError)
  /// Called after the commit.
  func didCommit()
  /// Called after a rollback.
  func didRollBack()
}
