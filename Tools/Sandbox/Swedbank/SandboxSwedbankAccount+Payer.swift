// What is not the API: the page on which a user plays the payer, and the ledger. Pure.

internal import Formats
internal import HTTPServer

extension SandboxSwedbankAccount {
  /// Answers a request of a payer's browser, or one for the ledger; nil if the request is for the API.
  mutating func answerPayer(_ request: SandboxRequest, now: Int64) -> SandboxOutcome? {
    let segments = request.segments
    switch (request.method, segments.first, segments.count) {
    case ("GET", "ledger", 1): return SandboxOutcome(200, ledger)
    case ("GET", "consumers", 2):
      return SandboxOutcome(Response(status: 200, text: "A consumer would be identified here.\n"))
    case ("GET", "checkout", 2): return orders[segments[1]].map { SandboxOutcome(Self.page($0)) }
    case ("POST", "checkout", 3):
      guard let order = orders[segments[1]], let action = SandboxSwedbankAction(rawValue: segments[2]) else {
        return nil
      }
      return act(action, order, request, now: now)
    default: return nil
    }
  }

  private mutating func act(
    _ action: SandboxSwedbankAction, _ order: SandboxSwedbankOrder, _ request: SandboxRequest, now: Int64
  ) -> SandboxOutcome {
    guard change(order.uuid, action, now: now) else {
      return SandboxOutcome(
        409,
        ["error": .string("an order that is \(order.status.rawValue) does not allow \(action.rawValue)")],
        note: "refused: \(order.status.rawValue)")
    }
    // A browser goes back to the page; a script reads the outcome.
    if request.isForm {
      let place = "/checkout/\(order.uuid)"
      return SandboxOutcome(
        Response(status: 303, headers: [("Location", place)]), note: orders[order.uuid]?.status.rawValue)
    }
    return SandboxOutcome(
      200, orders[order.uuid]?.ledgerEntry ?? [:], note: orders[order.uuid]?.status.rawValue)
  }

  private static func page(_ order: SandboxSwedbankOrder) -> Response {
    let actions: [(SandboxSwedbankAction, String)] = [
      (.pay, "Pay"), (.authorize, "Pay later (authorize)"), (.fail, "Fail"), (.cancel, "Cancel"),
      (.abort, "Abort"), (.capture, "Capture as the merchant"), (.reverse, "Pay back as the merchant"),
    ]
    let possible = actions.filter { order.allows($0.0) }
    var links = [(label: "Back to the shop after a payment", url: order.completeURL)]
    if let url = order.cancelURL { links.append((label: "Back to the shop without one", url: url)) }
    return SandboxPage.response(
      "Swedbank Pay sandbox",
      facts: [
        ("Order", order.id), ("Amount", amount(order.amount, order)), ("Status", order.status.rawValue),
        ("Captured", amount(order.capturedAmount, order)), ("Instrument", order.instrument),
      ],
      buttons: possible.map { (label: $0.1, link: Link("checkout", order.uuid, $0.0.rawValue)) }, links: links
    )
  }
}

extension SandboxSwedbankOrder {
  /// Whether the state allows an action.
  public func allows(_ action: SandboxSwedbankAction) -> Bool {
    var copy = self
    return copy.apply(Change(action: action, uuid: "", number: number, now: updated))
  }
}
