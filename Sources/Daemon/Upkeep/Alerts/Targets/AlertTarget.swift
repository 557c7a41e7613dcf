// The receiver of one entry of `alerts`, with its secrets read, and the notices in the form that it expects.
// Pure but for the secrets; called from any thread.

public import Config
internal import Cryptography
internal import Domain
internal import Formats
public import HTTPClient
internal import Partners
internal import Reports

/// A notice as it is sent.
public enum AlertMessage: Sendable, Equatable {
  case request(TransferRequest)
  case mail(Mail)
}

/// The receiver of one entry of `alerts`.
public struct AlertTarget: Sendable {
  enum Form: Sendable {
    case json
    case text
    case slack
    case pagerDuty(routingKey: String)
    case webhook(WebhookSigner)
    case email(from: String, to: [String], program: String)
  }

  /// The entry's key, for messages: the address may be a secret (R7).
  let label: String
  /// Empty for e-mails.
  let url: String
  let form: Form

  /// Reads the entry's secrets.
  /// - Parameter label: the entry's key, such as `alerts[0]`.
  /// - Throws: `Fault` if a secret cannot be read.
  public init(_ alert: Configuration.Alert, label: String) throws(Fault) {
    self.label = label
    url = try alert.to?.reveal() ?? (alert.form == .pagerduty ? PagerDutyEvent.url : "")
    switch alert.form {
    case .email:
      form = .email(from: alert.mailFrom ?? "", to: alert.mailTo, program: alert.sendmail)
    case .json: form = .json
    case .text: form = .text
    case .slack: form = .slack
    case .pagerduty: form = .pagerDuty(routingKey: try alert.routingKey?.reveal() ?? "")
    case .webhook:
      var keys: [WebhookKey] = []
      for secret in alert.secrets { if let key = WebhookKey(try secret.reveal()) { keys.append(key) } }
      do throws(CryptographyError) {
        form = .webhook(try WebhookSigner(keys))
      } catch {
        throw Fault(path: label, message: "cannot sign notices: this system has no HMAC")
      }
    }
  }

  /// Identifies the receiver in the database. Without secrets: a prefix of a SHA-256.
  public var digest: String {
    switch form {
    case .json, .text, .slack, .webhook: AlertNotice.digest(of: url)
    // Every account of PagerDuty has the same address.
    case .pagerDuty(let key): AlertNotice.digest(of: "\(url)\n\(key)")
    case .email(_, let to, _): AlertNotice.digest(of: "mailto:\(to.joined(separator: ","))")
    }
  }

  /// Whether notices of one condition with different limits belong to one incident of the receiver.
  var sharesIncidents: Bool { if case .pagerDuty = form { true } else { false } }

  /// A notice as it is sent.
  /// - Parameters:
  ///   - sentAt: Unix milliseconds, for the signature of a webhook.
  ///   - host: the name of this machine.
  ///   - userAgent: the value of `User-Agent`.
  public func message(
    _ notice: AlertNotice, sentAt: Int64, host: String, userAgent: String
  ) -> AlertMessage {
    var headers = [
      TransferHeader("User-Agent", userAgent), TransferHeader("Content-Type", "application/json"),
    ]
    let body: [UInt8]
    switch form {
    case .email(let from, let to, let program):
      // `--` ends the options, so no address is one; they are checked as well.
      return .mail(
        Mail(
          program: program, arguments: ["-i", "-f", from, "--"] + to,
          bytes: MailMessage.bytes(notice, from: from, to: to, host: host)))
    case .json: body = notice.body(host: host)
    case .text: body = TextNotice.message(notice, host: host).serialized()
    case .slack: body = SlackNotice.message(notice, host: host).serialized()
    case .pagerDuty(let key):
      body = PagerDutyEvent.event(notice, routingKey: key, host: host).serialized()
    case .webhook(let signer):
      let timestamp = String(sentAt / 1000)
      body = WebhookNotice.message(notice, host: host).serialized()
      headers += [
        TransferHeader("webhook-id", notice.id), TransferHeader("webhook-timestamp", timestamp),
        TransferHeader(
          "webhook-signature", signer.signature(id: notice.id, timestamp: timestamp, body: body)),
      ]
    }
    return .request(
      TransferRequest(
        method: .post, url: url, headers: headers, body: body, timeout: Alerter.timeout,
        connectTimeout: Alerter.connectTimeout))
  }
}

// MARK: - LimitedText

// Texts within a receiver's limit. Pure; called from any thread.

/// Shortens texts.
enum LimitedText {
  private static let end = "…"

  /// The text, or its beginning with an ellipsis, in at most `limit` UTF-16 units: receivers count characters
  /// in different ways, and no way counts more of them.
  /// - Parameter escape: replaces a character by the text that is sent for it, which counts as it is sent.
  static func cut(_ text: String, to limit: Int, escape: (Character) -> String? = { _ in nil }) -> String {
    var whole = ""
    var size = 0
    /// The beginning that leaves room for the ellipsis.
    var beginning = ""
    for character in text {
      let piece = escape(character) ?? String(character)
      size += piece.utf16.count
      guard size <= limit else { return beginning + end }
      whole += piece
      if size <= limit - end.utf16.count { beginning = whole }
    }
    return whole
  }
}

// MARK: - TextNotice

// A notice as a text alone, for chats that refuse other members (Google Chat) or need none (Mattermost,
// Rocket.Chat). Pure; called from any thread.

/// Makes messages of one text.
enum TextNotice {
  /// Far less than a message may have in Google Chat (32,000 bytes) and in Mattermost (16,383 characters).
  static let textMax = 4000

  /// An invisible space makes no mention of `@channel` (Mattermost) and `<users/all>` (Google Chat), which a
  /// destination's answer may contain.
  static func message(_ notice: AlertNotice, host: String) -> JSONValue {
    let text = LimitedText.cut(notice.text(host: host), to: textMax) { character in
      character == "@" || character == "<" ? "\(character)\u{200B}" : nil
    }
    return ["text": .string(text)]
  }
}

// MARK: - WebhookNotice

// A notice as a message of the Standard Webhooks specification, version 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks). Pure; called from any thread.

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
