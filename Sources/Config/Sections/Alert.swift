// The addresses that notices and heartbeats are sent to. Keys are read as by ConfigurationReader: one thread,
// every fault.

public import Domain
public import Formats
internal import Partners
internal import Platform

private let addressAdvice =
  "write the address to post to, \"https://…\", or where it is: \"env:NAME\", \"file:/path\""

extension Configuration {
  /// One receiver of notices.
  public struct Alert: Sendable, Equatable {
    /// What the receiver expects.
    public enum Form: String, Sendable, CaseIterable {
      /// The relay's own JSON object, with a text.
      case json
      /// A text alone, in JSON.
      case text
      /// A message of Slack.
      case slack
      /// An event of PagerDuty's Events API v2.
      case pagerduty
      /// The relay's own JSON object in a signed message of the Standard Webhooks specification.
      case webhook
      /// An e-mail, sent by the system's sendmail program.
      case email
    }

    /// https, or http to this machine. The URL itself may be a secret. Nil only for PagerDuty, which has a
    /// default, and for e-mails.
    public var to: Secret?
    public var form = Form.json
    /// PagerDuty's integration key; nil for any other form.
    public var routingKey: Secret?
    /// The keys that sign a webhook; empty for any other form.
    public var secrets: [Secret] = []
    /// The receivers of e-mails; empty for any other form.
    public var mailTo: [String] = []
    /// The sender of e-mails; nil for any other form.
    public var mailFrom: String?
    /// The path of the program that sends e-mails.
    public var sendmail = "/usr/sbin/sendmail"
    /// At least one; no duplicates.
    public var on: [AlertCondition]
    /// The least time between two notices that one condition still holds. Counts, too, are taken over this
    /// time.
    public var every: Duration
    /// Only these apps; nil means all of them.
    public var apps: [AppSlug]?

    public init(
      to: Secret?, on: [AlertCondition], every: Duration = .minutes(10), apps: [AppSlug]? = nil
    ) {
      self.to = to
      self.on = on
      self.every = every
      self.apps = apps
    }

    static let section = ConfigurationSection(
      Self(to: nil, on: []),
      [
        .optional(
          "to", \.to, .secretURL, example: "file:/etc/receiptd/secrets/slack_url",
          need: .alternative(isPreferred: true),
          "The URL that notices are posted to. Required, except with as: \"pagerduty\" and \"email\"."),
        .key(
          "as", \.form, .choice,
          "What the receiver expects: the relay's JSON object, a text alone (Google Chat, Mattermost), a "
            + "message of Slack, an event of PagerDuty, a webhook that is signed as in the Standard Webhooks "
            + "specification, or an e-mail."),
        .optional(
          "routing_key", \.routingKey, .secret, example: "file:/etc/receiptd/secrets/pagerduty_key",
          need: .alternative(isPreferred: false),
          "The integration key of PagerDuty's Events API v2. Required with as: \"pagerduty\". In PagerDuty's "
            + "EU region, to is https://events.eu.pagerduty.com/v2/enqueue."),
        .optional(
          "secrets", \.signingKeys, .secrets(count: KeyRanges.webhookSecrets),
          example: ["file:/etc/receiptd/secrets/alert_webhook_secret"],
          need: .alternative(isPreferred: false),
          "The key that signs notices, as webhook.secrets. Required with as: \"webhook\"."),
        .optional(
          "mail_to", \.receivers, .set(of: .mailAddress, count: 1...20, "addresses"),
          example: ["ops@example.com"], need: .alternative(isPreferred: false),
          "The receivers of e-mails. Required with as: \"email\"."),
        .optional(
          "mail_from", \.mailFrom, .mailAddress, example: "receiptd@example.com",
          need: .alternative(isPreferred: false),
          "The sender of e-mails, which gets the reports of those that cannot be delivered. Required with "
            + "as: \"email\"."),
        .key(
          "sendmail", \.sendmail, .file, "The program that sends e-mails. It has the options of sendmail."),
        .required(
          "on", \.on, .set(of: .condition, count: 1...40, "conditions"),
          example: ["breaker_open", "receipt_failed"],
          advice: "name the conditions: [\"breaker_open\", \"receipt_failed\"]; there are "
            + AlertCondition.listedForms,
          "The conditions that raise the alert: \(AlertCondition.listedForms). A limit may be changed."),
        .key(
          "every", \.every, .duration(in: .seconds(1)...(.days(7))),
          "Minimum time between two notices of the same problem."),
        .optional(
          "apps", \.apps, .list(of: .app, count: KeyRanges.apps, "apps"), example: ["ios"],
          "The apps that the alert is about; all of them without the key."
        ).then { alert, reader, _ in alert.check(reader) },
      ])

    /// `secrets` as a value that may be absent, as the other keys of a form.
    private var signingKeys: [Secret]? {
      get { secrets.isEmpty ? nil : secrets }
      set { secrets = newValue ?? [] }
    }

    private var receivers: [String]? {
      get { mailTo.isEmpty ? nil : mailTo }
      set { mailTo = newValue ?? [] }
    }

    /// Reports the keys that the form needs and the file does not have, and those that it does not use.
    private func check(_ reader: ObjectReader) {
      guard reader.isObject else { return }
      switch form {
      case .json, .text, .slack, .webhook: _ = reader.required("to", addressAdvice)
      case .email where reader.has("to"):
        reader.collector.fault(reader.path(of: "to"), "is not for e-mails; write the receivers into mail_to")
      case .email, .pagerduty: break
      }
      report("mail_to", of: .email, reader, advice: "write the receivers: [\"ops@example.com\"]")
      report("mail_from", of: .email, reader, advice: "write the sender: \"receiptd@example.com\"")
      report(
        "routing_key", of: .pagerduty, reader,
        advice: "write the integration key of PagerDuty's Events API v2 as \"env:NAME\" or \"file:/path\"")
      report(
        "secrets", of: .webhook, reader,
        advice: "write the key that signs the notices: [\"env:NAME\"]")
      if let key = routingKey, let value = try? key.reveal(), !Self.isRoutingKey(value) {
        reader.collector.fault(
          reader.path(of: "routing_key"), "must be an integration key of PagerDuty: 32 letters and digits")
      }
      WebhookKey.report(secrets, path: reader.path(of: "secrets"), reader.collector)
    }

    private func report(_ key: String, of form: Form, _ reader: ObjectReader, advice: String) {
      if self.form == form {
        _ = reader.required(key, advice)
      } else if reader.has(key) {
        reader.collector.fault(
          reader.path(of: key), "is only for as: \"\(form.rawValue)\"; change as, or take this out")
      }
    }

    /// The 32 characters of an integration key (PagerDuty, Events API v2).
    private static func isRoutingKey(_ text: String) -> Bool {
      text.utf8.count == 32 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
  }

  /// A URL that is requested at intervals as long as all is well. The service behind it raises the alarm when
  /// the requests stop.
  public struct Heartbeat: Sendable, Equatable {
    public var to: Secret
    public var every: Duration = .seconds(60)

    static let section = ConfigurationSection(
      Self(to: Secret("")),
      [
        .required(
          "to", \.to, .secretURL, example: "file:/etc/receiptd/secrets/heartbeat_url", advice: addressAdvice,
          "The URL that is requested."),
        .key(
          "every", \.every, .duration(in: .seconds(1)...(.days(1))),
          "Time between two requests."),
      ])
  }
}

extension AlertCondition {
  fileprivate static let listedForms = forms.map(\.text).joined(separator: ", ")
}

extension ValueForm<AlertCondition> {
  static var condition: ValueForm {
    let forms = AlertCondition.listedForms
    return ValueForm(
      shape: ValueShape("one of \(forms)", .pattern("^ *(\(namePattern)) *([<>] *[0-9]+ *[A-Za-z]* *)?$")),
      read: { value, path, context in
        guard let text = context.text(value, path: path, mustBe: "the name of a condition") else {
          return nil
        }
        if let condition = AlertCondition(parsing: text) { return condition }
        let name = String(text.prefix { $0 != ">" && $0 != "<" && $0 != " " })
        let near = EditDistance.nearest(to: name, among: AlertCondition.forms.map(\.name))
        let hint = near.flatMap { $0 == name ? nil : "; did you mean \"\($0)\"?" } ?? ""
        context.collector.fault(path, "must be one of \(forms), with the limit of your choice\(hint)")
        return nil
      }, show: { .string($0.text) })
  }

  private static var namePattern: String {
    (AlertCondition.forms.map(\.name) + AlertCondition.formerNames.keys.sorted()).joined(separator: "|")
  }
}

extension ValueForm<AppSlug> {
  /// The name of a configured app.
  fileprivate static var app: ValueForm {
    ValueForm(
      shape: ValueShape("the name of an app", .pattern(AppConfiguration.slugPattern)),
      read: { value, path, context in
        let name = context.text(value, path: path, mustBe: "the name of an app")
        guard let name, !context.appNames.contains(name) else { return name.map { AppSlug($0) } }
        let near =
          EditDistance.nearest(to: name, among: context.appNames).map { "; did you mean \"\($0)\"?" } ?? ""
        context.collector.fault(path, "is not an app of this configuration\(near)")
        return nil
      }, show: { .string($0.text) })
  }
}
