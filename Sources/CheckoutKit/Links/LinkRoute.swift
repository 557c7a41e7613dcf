// The places of an app and the values that lead to them. Pure; thread-safe.

/// A place in the app that links, shortcuts and notifications lead to. The app defines the type, usually an
/// enum.
///
/// Reading and formatting are inverse: ``init(path:)`` reads ``path`` as the same route.
public protocol LinkRoute: Sendable {
  /// Reads a link; nil for one that does not belong to the app.
  init?(path: LinkPath)

  /// The path of a link to this place.
  var path: LinkPath { get }

  /// Reads the type of a Home Screen quick action (`UIApplicationShortcutItem.type`). The comparison is
  /// case-sensitive. Omit it when the app has none.
  init?(shortcutType: String)

  /// Reads a notification's payload. Omit it when the app has none.
  init?(notification: NotificationPayload)
}

extension LinkRoute {
  /// The default: no quick actions.
  public init?(shortcutType: String) { return nil }

  /// The default: no notifications.
  public init?(notification: NotificationPayload) { return nil }
}

/// The payload of a notification (`UNNotificationContent.userInfo`). It is untrusted: only strings are read,
/// at most eight levels deep.
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

  /// The string at a path of keys: `text("data", "messageId")`.
  /// - Returns: nil when there is no string, or when it is empty, contains control characters or exceeds 1024
  ///   bytes.
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
