// A notice as a message for an incoming webhook of Slack
// (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, docs.slack.dev/reference/block-kit).
// Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports

/// Makes messages of Slack.
enum SlackNotice {
  /// The most characters of a header block.
  static let headerMax = 150
  /// The most characters of a text object, and so of a section block.
  static let textMax = 3000

  /// A header with the alert, a section with what is wrong and what to do, a context with the rest. `text` is
  /// what notifications show, and clients without blocks.
  static func message(_ notice: AlertNotice, host: String) -> JSONValue {
    let subject = notice.app.map { "\(notice.name) of \($0)" } ?? notice.name
    var section = notice.summary
    if notice.state == .firing { section += "\n\(notice.whatToDo)" }
    let details = "\(notice.alert) on \(host), since \(notice.since.clock(today: notice.at))"
    return [
      "text": .string(escaped(notice.text(host: host))),
      "blocks": [
        [
          "type": "header",
          "text": [
            "type": "plain_text",
            "text": .string(LimitedText.cut("\(notice.mark): \(subject)", to: headerMax)),
          ],
        ],
        ["type": "section", "text": text(section)],
        ["type": "context", "elements": [text(details)]],
      ],
    ]
  }

  /// With `verbatim`, names of channels and users in the text stay text.
  private static func text(_ text: String) -> JSONValue {
    ["type": "mrkdwn", "text": .string(escaped(text)), "verbatim": true]
  }

  /// Without this, `<!channel>` would notify a whole channel
  /// (docs.slack.dev/messaging/formatting-message-text).
  private static func escaped(_ text: String) -> String {
    LimitedText.cut(text, to: textMax) { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: nil
      }
    }
  }
}
