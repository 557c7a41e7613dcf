// The interface of the HTTP transport for workers. `TransferPool` implements it with libcurl; tests have
// their own.

/// Sends requests and collects their answers. One thread calls everything except `wake`.
public protocol HTTPTransport: Sendable {
  /// See `TransferPool.start`.
  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure)
  /// See `TransferPool.run`.
  func run(timeout: Duration) -> [TransferCompletion]
  /// See `TransferPool.cancel`.
  func cancel(tag: UInt64)
  /// See `TransferPool.cancelAll`.
  func cancelAll() -> [TransferCompletion]
  /// Makes `run` return. Called from any thread.
  func wake()
}

extension TransferPool: HTTPTransport {}
