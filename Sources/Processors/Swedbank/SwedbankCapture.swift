// Captures an authorised payment order for a merchant who leaves that to the relay (`capture: "auto"`;
// https://developer.swedbankpay.com/checkout-v3/get-started/post-purchase). The payment order says what is to
// do: it is fetched before each attempt, and after one. Pure; any thread.

public import Domain
internal import JSON

/// The captures of one app.
public struct SwedbankCapture: Sendable {
  /// What to do next.
  public enum Plan: Sendable, Equatable {
    /// Send this, and fetch the order again. A repetition has the same reference, so Swedbank Pay carries out
    /// at most one of them.
    case capture(BackendCall)
    /// The whole amount is captured.
    case captured
    /// The order cannot be captured: it is not paid, or it was cancelled or reversed; or the merchant has
    /// captured a part of it, and so does the rest.
    case impossible
    /// The answer is not the payment order. Fetch it again later.
    case unreadable
  }

  private let settings: SwedbankSettings
  private let secrets: SwedbankSecrets
  private let api: SwedbankBase

  init(_ settings: SwedbankSettings, secrets: SwedbankSecrets) {
    self.settings = settings
    self.secrets = secrets
    api = SwedbankBase(settings.apiBase)
  }

  /// Fetches the state of a payment order with its items, which some instruments require in a capture.
  /// - Returns: nil for a key that is no payment order's.
  public func lookup(of key: PurchaseKey) -> BackendCall? {
    SwedbankOrderPath(key).map { order in
      BackendCall(
        "GET", order.text + "?$expand=paid,orderItems", headers: SwedbankBackend.currentVersion,
        timeout: settings.timeout)
    }
  }

  /// - Parameter answer: the body of a 200 to `lookup(of:)`.
  public func plan(_ answer: [UInt8], for key: PurchaseKey) -> Plan {
    JSONDocument.read(answer) { root -> Plan in
      guard let resource = SwedbankResource(root), let order = resource.id(at: api), order.key == key,
        let status = resource.order?.member("status")?.string
      else { return .unreadable }
      guard status == "Paid" else { return .impossible }
      guard let href = resource.href(SwedbankRelation.capture) else {
        return resource.isCaptured == false ? .impossible : .captured
      }
      guard let target = api.target(of: href) else { return .unreadable }
      guard let amount = resource.order?.member("amount")?.int64,
        let remaining = resource.order?.member("remainingCaptureAmount")?.int64
      else { return .unreadable }
      guard remaining == amount else { return .impossible }
      let vatAmount = resource.order?.member("vatAmount")?.int64 ?? 0
      var body = Array(#"{"transaction":"#.utf8)
      body +=
        JSONValue.object([
          .init(name: "description", value: "Capture"), .init(name: "amount", value: .integer(amount)),
          .init(name: "vatAmount", value: .integer(vatAmount)),
          .init(name: "payeeReference", value: .string(secrets.captureReference(of: order))),
        ]).serialized().dropLast()
      if let items = resource.order?.member("orderItems")?.member("orderItemList"), items.isArray {
        body += Array(#","orderItems":"#.utf8) + items.bytes(of: answer)
      }
      return .capture(
        BackendCall(
          "POST", target, headers: SwedbankBackend.currentVersion, body: body + Array("}}".utf8),
          timeout: settings.timeout))
    } ?? .unreadable
  }
}
