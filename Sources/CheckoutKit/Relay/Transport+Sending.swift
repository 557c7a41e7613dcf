// One request by a transport, and its repetition by a policy. Called from any task.

internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A 2xx response.
struct HTTPSuccess: Sendable {
  let status: Int
  let body: Data

  var unexpected: RelayError {
    .unexpectedAnswer(status: status, body: OperatorText(String(decoding: body, as: UTF8.self)))
  }
}

extension Transport {
  /// Sends a request once.
  /// - Throws: for every response other than 2xx.
  func success(of request: URLRequest, _ clock: any CheckoutClock) async throws(RelayError) -> HTTPSuccess {
    guard !Task.isCancelled else { throw .cancelled }
    let (body, response): (Data, URLResponse)
    do {
      (body, response) = try await send(request)
    } catch {
      throw Task.isCancelled ? .cancelled : .thrown(error)
    }
    guard let response = response as? HTTPURLResponse else { throw .notHTTP }
    guard (200...299).contains(response.statusCode) else {
      throw .http(HTTPFailure(response, body, now: clock.date))
    }
    return HTTPSuccess(status: response.statusCode, body: body)
  }
}

extension RetryPolicy {
  /// Repeats an attempt while it fails for a transient reason and this policy allows another one.
  /// - Parameter attempt: gets its number, from 1.
  func run(
    _ clock: any CheckoutClock, _ attempt: (Int) async throws(RelayError) -> HTTPSuccess
  ) async throws(RelayError) -> HTTPSuccess {
    let start = clock.seconds
    var attempts = 1
    while true {
      let failure: RelayError
      do {
        return try await attempt(attempts)
      } catch {
        failure = error
      }
      guard failure.isTransient,
        let pause = pause(
          after: attempts, elapsed: clock.seconds - start, retryAfter: failure.retryAfter)
      else { throw failure }
      // A clock throws only on cancellation.
      do { try await clock.sleep(seconds: pause) } catch { throw .cancelled }
      attempts += 1
    }
  }
}

extension URLRequest {
  /// Makes it a POST with JSON. Keys are sorted and slashes are not escaped, so that the same body gives the
  /// same bytes.
  mutating func post(_ body: some Encodable) throws(RelayError) {
    httpMethod = "POST"
    setValue("application/json; charset=utf-8", forHTTPHeaderField: "Content-Type")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do { httpBody = try encoder.encode(body) } catch {
      throw .encoding("The request cannot be written as JSON.")
    }
  }
}
