// The bulk commands' changes of single receipts, as one command type.

/// One change of one receipt.
public enum ReceiptChange: StoreCommand {
  case replay(ReplayReceipt)
  case cancel(CancelReceipt)
  case complete(CompleteReceipt)

  public var reads: [ReadKey] {
    switch self {
    case .replay(let command): command.reads
    case .cancel(let command): command.reads
    // The app and user, by which the context is found, are known only from the row.
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
