// Whether an event refers to a user: by the processor's ids, which are unique strings, or by the user's own
// id in the fields that carry it. Pure.

internal import Domain
internal import JSON
internal import Presentation
internal import Store

/// The ids that identify a user's events.
struct UserSearch {
  private let user: UserID
  /// Ids of customers, subscriptions and sessions, by app.
  private let ids: [AppSlug: Set<String>]

  /// The only app to search; nil means all.
  private let only: AppSlug?

  init(user: UserID, app: AppSlug?, _ survey: UserSurvey) {
    self.user = user
    only = app
    ids = Dictionary(
      uniqueKeysWithValues: survey.parts.map { part in
        let names = part.purchases.flatMap {
          [$0.customerID?.text, $0.sessionID?.text, $0.objectID.text].compactMap(\.self)
        }
        return (part.app, Set(names))
      })
  }

  /// - Returns: whether a member of the event contains the user or one of the ids.
  func finds(in body: [UInt8], app: AppSlug) -> Bool {
    guard only == nil || only == app, let event = try? JSONValue(parsing: body) else {
      return false  // Another app's event, or invalid JSON, which cannot be attributed to a user.
    }
    return finds(in: event, ids[app] ?? [], isMetadata: false)
  }

  private func finds(in value: JSONValue, _ ids: Set<String>, isMetadata: Bool) -> Bool {
    switch value {
    case .string(let text): ids.contains(text) || isMetadata && UserID(text) == user
    case .array(let values): values.contains { finds(in: $0, ids, isMetadata: false) }
    case .object(let members):
      members.contains { member in
        finds(
          in: member.value, ids,
          isMetadata: isMetadata || member.name == "metadata" || member.name == "client_reference_id")
      }
    default: false
    }
  }
}
