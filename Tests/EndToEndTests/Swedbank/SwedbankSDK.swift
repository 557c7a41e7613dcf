// The SDKs of Swedbank Pay as strict clients of a real relay: what they send, and what they require of each
// answer (SwedbankPay/swedbank-pay-sdk-ios: MerchantBackendApi.swift, Link.swift; -android: Api.kt, Link.kt).

import Formats

/// One payment by an SDK. It starts at the root, follows the links, and fails as the SDKs fail. One thread.
struct SwedbankSDK {
  enum Failure: Error, Equatable {
    /// An answer that the SDKs cannot use, or a missing member.
    case unexpected(String)
    case problem(type: String, status: Int64)
    /// A link to another host, which the SDKs refuse before any request.
    case foreignHost(String)
  }

  /// The versions of the API that apps use.
  enum Version: String, CaseIterable {
    case v2, v3
  }

  let api: Endpoint
  /// `http://127.0.0.1:PORT/v1/APP/swedbank/`; its end is a slash, because links are relative to it.
  let backendURL: String
  var headers: [String: String]

  /// - Parameter user: in the path of the root; nil to name it in `headers`.
  init(_ relay: Relay, app: String = "shop", user: String? = nil, headers: [String: String] = [:]) {
    api = relay.outside.api
    let path = user.map { "/v1/\(app)/users/\($0)/swedbank/" } ?? "/v1/\(app)/swedbank/"
    backendURL = "http://127.0.0.1:\(api.port)\(path)"
    self.headers = headers.merging(["X-API-KEY": Secrets.clientKey]) { own, _ in own }
  }

  private var origin: String { "http://127.0.0.1:\(api.port)" }

  /// Resolves a link as RFC 3986 §5.2 says, for the forms that occur: whole URLs and absolute paths.
  func resolve(_ link: String) throws -> String {
    let url = link.hasPrefix("/") && !link.hasPrefix("//") ? origin + link : link
    guard url.hasPrefix(origin + "/") else { throw Failure.foreignHost(link) }
    return url
  }

  /// Sends a request. Success is anything but 400–599, as exactly `application/json` with a body; a problem
  /// must be exactly `application/problem+json`, and its own status counts.
  func request(_ method: String, _ url: String, _ body: JSONValue? = nil) throws -> JSONValue {
    var fields = headers
    fields["User-Agent"] = "SwedbankPaySDK-iOS/5.0.2"
    if body != nil { fields["Content-Type"] = "application/json" }
    let path = String(try resolve(url).dropFirst(origin.count))
    let reply = try api.request(method, path, body: body?.serialized(), headers: fields)
    let type = reply.header("Content-Type")?.split(separator: ";").first.map(String.init)
    guard let json = reply.json, case .object = json else { throw Failure.unexpected(reply.text) }
    guard (400...599).contains(reply.status) else {
      guard type == "application/json" else { throw Failure.unexpected("\(type ?? "no type")") }
      return json
    }
    guard type == "application/problem+json" else { throw Failure.unexpected("\(type ?? "no type")") }
    var status = Int64(reply.status)
    if case .integer(let given)? = json["status"] { status = given }
    throw Failure.problem(type: json["type"]?.stringValue ?? "about:blank", status: status)
  }

  /// A link of the root, which both SDKs require.
  func link(_ name: String) throws -> String {
    let root = try request("GET", backendURL)
    for name in ["consumers", "paymentorders"] where root[name]?.stringValue == nil {
      throw Failure.unexpected("the root has no \(name)")
    }
    return try resolve(root[name]?.stringValue ?? "")
  }

  /// The URL of an operation; iOS requires the list.
  func operation(_ rel: String, in answer: JSONValue) throws -> String {
    guard case .array(let operations)? = answer["operations"] else { throw Failure.unexpected("operations") }
    let found = operations.first { $0["rel"]?.stringValue == rel }?["href"]?.stringValue
    guard let found else { throw Failure.unexpected("no \(rel)") }
    return found
  }

  /// Starts an order as the SDKs do.
  /// - Returns: the answer, and the id of the order.
  func start(_ version: Version, amount: Int64 = 5999) throws -> (answer: JSONValue, id: String) {
    let answer = try request("POST", try link("paymentorders"), order(version, amount))
    _ = try operation(version == .v2 ? "view-paymentorder" : "view-checkout", in: answer)
    guard let id = answer["paymentOrder"]?["id"]?.stringValue else { throw Failure.unexpected("no id") }
    return (answer, id)
  }

  /// Changes the instrument: by the link of `mobileSDK`, or by the operation of version 3.
  func setInstrument(_ instrument: String, of answer: JSONValue, _ version: Version) throws -> JSONValue {
    let change: JSONValue = ["operation": "SetInstrument", "instrument": .string(instrument)]
    switch version {
    case .v2:
      guard let link = answer["mobileSDK"]?["setInstrument"]?.stringValue else {
        throw Failure.unexpected("no link to set the instrument")
      }
      return try request("PATCH", link, ["paymentorder": change])
    case .v3:
      let href = try operation("set-instrument", in: answer)
      return try request("PATCH", backendURL + "patch", ["href": .string(href), "paymentorder": change])
    }
  }

  /// The order that the SDK sends, with URLs built from the backend's.
  private func order(_ version: Version, _ amount: Int64) -> JSONValue {
    let helper = "sdk-callback/ios-universal-link?scheme=shop&language=en-US&id=1"
    let urls: JSONValue = [
      "hostUrls": [.string(backendURL)], "completeUrl": .string(backendURL + "complete"),
      "cancelUrl": .string(backendURL + "cancel"), "paymentUrl": .string(backendURL + helper),
    ]
    var order: JSONValue = [
      "operation": "Purchase", "currency": "SEK", "amount": .integer(amount), "vatAmount": 1200,
      "description": "Gold", "userAgent": "SwedbankPaySDK-iOS/5.0.2", "language": "en-US",
      "generateRecurrenceToken": false, "generatePaymentToken": false, "disablePaymentMenu": false,
      "urls": urls, "payeeInfo": ["payeeId": "", "payeeReference": ""],
    ]
    if version == .v3 { order = order.adding("productName", "Checkout3") }
    if version == .v2 { order = order.adding("instrument", "CreditCard") }
    return ["paymentorder": order]
  }
}
