import CheckoutKit

/// The places of the shop. `CheckoutSession` handles the links of checkouts and claims itself.
enum ShopRoute: LinkRoute, Hashable {
  case plans
  case order(String)

  init?(path: LinkPath) {
    switch (path[0], path[1], path[2]) {
    case ("plans", nil, nil): self = .plans
    case ("orders", let id?, nil): self = .order(id)
    default: return nil
    }
  }

  var path: LinkPath {
    switch self {
    case .plans: LinkPath("plans")
    case .order(let id): LinkPath("orders", id)
    }
  }

  init?(shortcutType: String) {
    guard shortcutType == "com.example.app.plans" else { return nil }
    self = .plans
  }

  init?(notification: NotificationPayload) {
    guard let id = notification.text("data", "orderId") else { return nil }
    self = .order(id)
  }
}
