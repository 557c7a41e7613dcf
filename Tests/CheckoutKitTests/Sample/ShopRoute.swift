import CheckoutKit

/// The places of the shop that links lead to.
enum ShopRoute: LinkRoute, Hashable {
  case plans
  case order(String)
  case checkoutReturn(CheckoutReturn)
  case claim(ClaimLink)

  init?(path: LinkPath) {
    if let back = CheckoutReturn(path: path) {
      self = .checkoutReturn(back)
      return
    }
    if let link = ClaimLink(path: path) {
      self = .claim(link)
      return
    }
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
    case .checkoutReturn(let back): back.path
    case .claim(let link): link.path
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
