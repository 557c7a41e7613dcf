// What the dispatcher needs of an HTTP client: a simulation hands in a network of its own.

internal import HTTPClient

/// Carries requests. Everything but `wake` belongs to the dispatcher's thread.
protocol Carrier: Sendable {
  /// See `TransferPool.start`.
  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure)
  /// See `TransferPool.run`.
  func run(timeoutMilliseconds: Int) -> [TransferCompletion]
  /// See `TransferPool.cancelAll`.
  func cancelAll() -> [TransferCompletion]
  /// Makes `run` return. From any thread.
  func wake()
}

extension TransferPool: Carrier {}
