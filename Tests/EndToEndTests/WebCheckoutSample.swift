// The Swift code of Purchasely's page "Implementing web payment for US customers", in its shape: the app
// encodes the context and posts it to a server. Only the address and the last field of the request are the
// relay's.

import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The context, with the names of the page.
struct WebCheckoutSample: Codable {
  var presentationId: String?
  var placementId: String?
  var abTestId: String?
  var abTestVariantId: String?
  let stripePriceId: String
  let stripeObjectType: String
  let originalPlatform: String
}

/// An answer other than 2xx.
struct ServerErrorResponse: Error {
  let statusCode: Int
  let message: String
}

extension WebCheckoutSample {
  /// The page calls this encryption; it is base64.
  func plyContext() throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return try encoder.encode(self).base64EncodedString()
  }

  /// - Parameter clientKey: nil for an app with `client: "open"`, as on the page.
  func send(
    to url: URL, clientKey: String?, completion: @escaping @Sendable (Result<Data?, any Error>) -> Void
  ) {
    var request = URLRequest(url: url)
    do {
      request.httpMethod = "POST"
      request.setValue("application/json; charset=utf-8", forHTTPHeaderField: "Content-Type")
      request.httpBody = try JSONEncoder().encode(["ply_context": plyContext()])
      if let clientKey {
        request.setValue(clientKey, forHTTPHeaderField: "X-API-KEY")
      }
    } catch {
      completion(.failure(error))
      return
    }
    URLSession.shared.dataTask(with: request) { data, response, error in
      if let error { return completion(.failure(error)) }
      guard let response = response as? HTTPURLResponse else {
        return completion(.failure(URLError(.badServerResponse)))
      }
      guard (200...299).contains(response.statusCode) else {
        let message = String(decoding: data ?? Data(), as: UTF8.self)
        return completion(.failure(ServerErrorResponse(statusCode: response.statusCode, message: message)))
      }
      completion(.success(data))
    }.resume()
  }
}
