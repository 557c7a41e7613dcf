// The routes of an example app: messages, requests, an activity list, and a listing that guests cannot
// create.

import CheckoutKit

enum ExampleRoute: LinkRoute, Hashable {
  enum Messages: Hashable {
    case root
    case details(String)
  }

  case messages(Messages)
  case request(String)
  case activity
  case newListing

  init?(path: LinkPath) {
    switch (path[0], path[1], path[2]) {
    case ("messages", nil, nil): self = .messages(.root)
    case ("messages", let id?, nil): self = .messages(.details(id))
    case ("request", let id?, nil): self = .request(id)
    case ("activity", nil, nil): self = .activity
    case ("new-listing", nil, nil): self = .newListing
    default: return nil
    }
  }

  var path: LinkPath {
    switch self {
    case .messages(.root): LinkPath("messages")
    case .messages(.details(let id)): LinkPath("messages", id)
    case .request(let id): LinkPath("request", id)
    case .activity: LinkPath("activity")
    case .newListing: LinkPath("new-listing")
    }
  }

  init?(shortcutType: String) {
    switch shortcutType {
    case "com.myApp.newListing": self = .newListing
    case "com.myApp.activity": self = .activity
    // The app registered this type with a capital letter.
    case "com.MyApp.messages": self = .messages(.root)
    default: return nil
    }
  }

  init?(notification: NotificationPayload) {
    if let id = notification.text("data", "messageId") {
      self = .messages(.details(id))
    } else if let id = notification.text("data", "requestId") {
      self = .request(id)
    } else {
      return nil
    }
  }
}
