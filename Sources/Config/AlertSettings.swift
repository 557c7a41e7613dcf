// The addresses that notices and heartbeats are sent to. Pure; any thread.

public import Domain
internal import Formats

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

    public static let everyDefault: Duration = .minutes(10)

    public init(
      to: Secret?, on: [AlertCondition], every: Duration = everyDefault, apps: [AppSlug]? = nil
    ) {
      self.to = to
      self.on = on
      self.every = every
      self.apps = apps
    }
  }

  /// A URL that is requested at intervals as long as all is well. The service behind it raises the alarm when
  /// the requests stop.
  public struct Heartbeat: Sendable, Equatable {
    public var to: Secret
    public var every: Duration

    public static let everyDefault: Duration = .seconds(60)

    public init(to: Secret, every: Duration = everyDefault) {
      self.to = to
      self.every = every
    }
  }
}
