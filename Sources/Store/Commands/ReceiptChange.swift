// What bulk verbs do to single receipts, as one kind of command.

/// One change of one receipt.
public enum ReceiptChange: StoreCommand {
  case replay(ReplayReceipt)
  case cancel(CancelReceipt)
  case complete(CompleteReceipt)

  public var reads: [ReadKey] {
    switch self {
    case .replay(let command): command.reads
    case .cancel(let command): command.reads
    // Only its row says in which app the user and the context are to be found.
    case .complete: []
    }
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> OperatorResult {
    switch self {
    case .replay(let command): try command.apply(to: store)
    case .cancel(let command): try command.apply(to: store)
    case .complete(let command): try command.apply(to: store)
    }
  }
}
