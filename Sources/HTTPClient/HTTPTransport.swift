// What a worker needs of an HTTP client. libcurl's is `TransferPool`; tests have their own.

/// Sends requests and collects their answers. Everything but `wake` belongs to one thread.
public protocol HTTPTransport: Sendable {
  /// See `TransferPool.start`.
  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure)
  /// See `TransferPool.run`.
  func run(timeoutMilliseconds: Int) -> [TransferCompletion]
  /// See `TransferPool.cancelAll`.
  func cancelAll() -> [TransferCompletion]
  /// Makes `run` return. From any thread.
  func wake()
}

extension TransferPool: HTTPTransport {}
