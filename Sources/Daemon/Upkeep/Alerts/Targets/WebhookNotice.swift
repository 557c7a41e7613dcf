// A notice as a message of the Standard Webhooks specification, version 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks). Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports

/// Makes the bodies of webhooks.
enum WebhookNotice {
  /// `data` is the object that the form `json` posts.
  static func message(_ notice: AlertNotice, host: String) -> JSONValue {
    [
      "type": .string("alert.\(notice.state.rawValue)"), "timestamp": .time(notice.at),
      "data": notice.json(host: host),
    ]
  }
}
