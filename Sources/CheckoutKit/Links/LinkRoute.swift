// What the app tells the router about its places. Pure; any thread.

/// A place in the app that links, shortcuts and notifications lead to. The app's own type, usually an enum.
///
/// Reading and printing are each other's inverse: what ``path`` prints, ``init(path:)`` reads as the same
/// route.
public protocol LinkRoute: Sendable {
  /// Reads a link; nil for one that is none of the app's.
  init?(path: LinkPath)

  /// What a link to this place says.
  var path: LinkPath { get }

  /// Reads the type of a Home Screen quick action (`UIApplicationShortcutItem.type`), which compares exactly.
  /// Leave it out when the app has none.
  init?(shortcutType: String)

  /// Reads what a notification carries. Leave it out when the app has none.
  init?(notification: NotificationPayload)
}

extension LinkRoute {
  /// No quick actions.
  public init?(shortcutType: String) { return nil }

  /// No notifications.
  public init?(notification: NotificationPayload) { return nil }
}

/// What a notification carries (`UNNotificationContent.userInfo`), of which nothing is trusted: only its
/// texts, eight levels deep.
public struct NotificationPayload: Sendable {
  private indirect enum Value: Sendable {
    case text(String)
    case members([String: Value])
  }

  private let content: Value

  /// Wraps a notification's `userInfo`.
  public init(_ userInfo: [AnyHashable: Any]) { content = .members(Self.members(of: userInfo, depth: 8)) }

  private static func members(of dictionary: [AnyHashable: Any], depth: Int) -> [String: Value] {
    var members: [String: Value] = [:]
    for (key, value) in dictionary {
      guard let name = key as? String else { continue }
      if let text = value as? String {
        members[name] = .text(text)
      } else if depth > 1, let inner = value as? [AnyHashable: Any] {
        members[name] = .members(Self.members(of: inner, depth: depth - 1))
      }
    }
    return members
  }

  /// The text at a path of keys: `text("data", "messageId")`.
  /// - Returns: nil when there is none, when it is no text, is empty, has control characters or more than
  ///   1024 bytes.
  public func text(_ keys: String...) -> String? {
    var value = content
    for key in keys {
      guard case .members(let members) = value, let member = members[key] else { return nil }
      value = member
    }
    guard case .text(let text) = value, LinkText.isIdentifier(text) else { return nil }
    return text
  }
}
