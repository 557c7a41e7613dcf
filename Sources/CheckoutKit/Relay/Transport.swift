// How requests get to the relay, so that tests and apps with a network layer of their own can put in theirs.

public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Sends one request and gives its answer. ``URLSessionTransport`` is the one of the kit.
///
/// A transport of your own must not follow redirects: the request carries the app's key. It must not retry
/// either, which is up to ``RetryPolicy``, and it should end when its task is cancelled.
public protocol Transport: Sendable {
  /// Sends a request.
  /// - Returns: the whole body, and the head of the answer, whatever its status.
  /// - Throws: when there was no answer.
  func send(_ request: URLRequest) async throws -> (Data, URLResponse)
}
