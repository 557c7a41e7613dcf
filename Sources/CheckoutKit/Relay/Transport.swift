// Sends requests to the relay; tests and apps with their own network layer supply their own.

public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Sends one request and returns its response. ``URLSessionTransport`` is the kit's own.
///
/// A transport must not follow redirects, because the request carries the app's key. It must not retry,
/// because ``RetryPolicy`` does. It should end when its task is cancelled.
public protocol Transport: Sendable {
  /// Sends a request.
  /// - Returns: the whole body and the head of the response, for every status.
  /// - Throws: when there was no response.
  func send(_ request: URLRequest) async throws -> (Data, URLResponse)
}
