// The keys of an alert and of the heartbeat. As ConfigurationReader: one thread, every fault.

internal import Domain
internal import JSON
internal import Platform

private let addressAdvice =
  "write the address to post to, \"https://…\", or where it is: \"env:NAME\", \"file:/path\""

extension Configuration.Alert {
  static let section = ConfigurationSection(
    Self(to: Secret(""), on: []),
    [
      .required(
        "to", \.to, .secretURL, example: "file:/etc/receiptd/secrets/slack_url", advice: addressAdvice,
        "The URL that notices are posted to."),
      .required(
        "on", \.on, .set(of: .condition, count: ConfigurationLimits.alertConditions, "conditions"),
        example: ["breaker_open", "receipt_failed"],
        advice: "name the conditions: [\"breaker_open\", \"receipt_failed\"]; there are "
          + AlertCondition.listedForms,
        "The conditions that raise the alert: \(AlertCondition.listedForms). A limit may be changed."),
      .key(
        "every",
        \.every,
        .duration(in: ConfigurationLimits.alertEvery),
        "The least time between two notices of the same problem."),
      .optional(
        "apps", \.apps, .list(of: .app, count: ConfigurationLimits.apps, "apps"), example: ["ios"],
        "The apps that the alert is about; all of them without the key."),
    ])
}

extension Configuration.Heartbeat {
  static let section = ConfigurationSection(
    Self(to: Secret("")),
    [
      .required(
        "to", \.to, .secretURL, example: "file:/etc/receiptd/secrets/heartbeat_url", advice: addressAdvice,
        "The URL that is requested."),
      .key(
        "every",
        \.every,
        .duration(in: ConfigurationLimits.heartbeatEvery),
        "The time between two requests."),
    ])
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

  private static var namePattern: String { AlertCondition.forms.map(\.name).joined(separator: "|") }
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
