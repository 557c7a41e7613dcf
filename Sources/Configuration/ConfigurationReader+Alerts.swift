// Reads alerts and the heartbeat from the configuration. As ConfigurationReader: one thread, every fault.

internal import JSON
internal import Platform

extension ConfigurationReader {
  /// - Parameter apps: the names under `apps`, faulty or not.
  func alerts(in root: ObjectReader, apps: [String]) -> [Configuration.Alert] {
    let path = root.path(of: "alerts")
    let range = ConfigurationLimits.alerts
    guard let entries = root.list(root.value("alerts"), path: path, count: range, of: "alerts") else {
      return []
    }
    return entries.compactMap { value, path in
      alert(ObjectReader(value, path: path, collector: collector), apps: apps)
    }
  }

  private func alert(_ reader: ObjectReader, apps: [String]) -> Configuration.Alert? {
    defer { reader.reportUnknownKeys() }
    let to = address(reader)
    let on = conditions(reader)
    let every = reader.duration(
      "every", default: Configuration.Alert.everyDefault, in: ConfigurationLimits.alertEvery)
    let only = names(reader, known: apps)
    guard let to, let on else { return nil }
    return Configuration.Alert(to: to, on: on, every: every, apps: only)
  }

  func heartbeat(in root: ObjectReader) -> Configuration.Heartbeat? {
    guard let value = root.value("heartbeat") else { return nil }
    let reader = ObjectReader(value, path: root.path(of: "heartbeat"), collector: collector)
    defer { reader.reportUnknownKeys() }
    let to = address(reader)
    let every = reader.duration(
      "every", default: Configuration.Heartbeat.everyDefault, in: ConfigurationLimits.heartbeatEvery)
    return to.map { Configuration.Heartbeat(to: $0, every: every) }
  }

  /// A URL that may be a secret; nil after a fault.
  private func address(_ reader: ObjectReader) -> Secret? {
    let path = reader.path(of: "to")
    let advice =
      "write the address to post to, \"https://…\", or where it is: \"env:NAME\", \"file:/path\""
    guard let secret = secrets.secret(reader.required("to", advice), path: path) else { return nil }
    // An unreadable secret was already reported, where it matters.
    if let url = try? secret.reveal(), let fault = EndpointURL.fault(in: url) { collector.fault(path, fault) }
    return secret
  }

  private func conditions(_ reader: ObjectReader) -> [AlertCondition]? {
    let path = reader.path(of: "on")
    let forms = AlertCondition.forms.map(\.text).joined(separator: ", ")
    let advice = "name the conditions: [\"breaker_open\", \"receipt_failed\"]; there are \(forms)"
    let range = ConfigurationLimits.alertConditions
    guard let entries = reader.list(reader.required("on", advice), path: path, count: range, of: "conditions")
    else { return nil }
    var conditions: [AlertCondition] = []
    for (value, path) in entries {
      guard let text = reader.text(value, path: path, mustBe: "the name of a condition") else { continue }
      guard let condition = AlertCondition(parsing: text) else {
        let name = String(text.prefix { $0 != ">" && $0 != "<" && $0 != " " })
        let near = EditDistance.nearest(to: name, among: AlertCondition.forms.map(\.name))
        let hint = near.flatMap { $0 == name ? nil : "; did you mean \"\($0)\"?" } ?? ""
        collector.fault(path, "must be one of \(forms), with the limit of your choice\(hint)")
        continue
      }
      if conditions.contains(condition) { collector.fault(path, "is in the list already; take it out") }
      conditions.append(condition)
    }
    return conditions
  }

  private func names(_ reader: ObjectReader, known: [String]) -> [String]? {
    let path = reader.path(of: "apps")
    let range = ConfigurationLimits.apps
    guard let entries = reader.list(reader.value("apps"), path: path, count: range, of: "apps") else {
      return nil
    }
    return entries.compactMap { value, path in
      let name = reader.text(value, path: path, mustBe: "the name of an app")
      guard let name, !known.contains(name) else { return name }
      let near = EditDistance.nearest(to: name, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
      collector.fault(path, "is not an app of this configuration\(near)")
      return nil
    }
  }
}
