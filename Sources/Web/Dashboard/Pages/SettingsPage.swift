// The configuration in force: every key with its value, and of each secret only its source (R7). Pure; called
// from any thread.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Service

struct SettingsPage {
  /// `Configuration.redacted`
  let configuration: JSONValue
  /// `Configuration.defaults`
  let defaults: (own: JSONValue, app: JSONValue)
  let health: HealthReport
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Settings", place: .settings) {
      Tag.h1 { "Settings" }
      Tag.p(.class("lead")) {
        "The configuration that receiptd uses, as "
        Tag.code { "receiptctl config show" }
        " prints that of the file. It is changed in the file, and applied by "
        Tag.code { "receiptctl reload" }
        ". Of a secret only its source is shown."
      }
      state
      Tag.nav(.class("tabs"), .label("Sections")) {
        for section in sections {
          Tag.a(.href(Link.fragment("section-\(section.name)"))) { PageParts.untrusted(section.name) }
        }
      }
      for section in sections { card(section) }
    }
  }

  private var state: HTML {
    HTML {
      if let refused = health.refusedReload {
        PageParts.notice("bad") {
          Tag.p {
            Tag.strong { "The last reload was refused " }
            PageParts.time(refused.at, now: now)
            ": "
            PageParts.untrusted(refused.faults.joined(separator: "; "))
          }
        }
      }
      if !health.needsRestart.isEmpty {
        PageParts.notice("pending") {
          Tag.p {
            "Only a restart applies the changes of \(health.needsRestart.joined(separator: ", "))."
          }
        }
      }
      Tag.section(.class("card"), .labelledBy("state")) {
        Tag.h2(.id("state")) { "In force" }
        Tag.dl {
          PageParts.fact("configuration", HTML(text: "\(health.generation) since the start"))
          PageParts.fact("applied", PageParts.exact(health.configuredAt, now: now))
          PageParts.fact("receiptd", HTML(text: "\(health.version)"))
          PageParts.fact("started", PageParts.exact(health.startedAt, now: now))
          if let free = health.freeBytes {
            PageParts.fact("free on the disk", HTML(text: HealthReport.size(free)))
          }
        }
      }
    }
  }

  /// A part of the configuration: its name, and its keys in order.
  private struct Section {
    let name: String
    let rows: [(key: String, value: String)]
    /// What the keys are without an entry in the file.
    var defaults: [(key: String, value: String)] = []

    /// Those with another value, and the rest.
    var parted: (set: [(key: String, value: String)], rest: [(key: String, value: String)]) {
      let known = Dictionary(defaults.map { ($0.key, $0.value) }) { first, _ in first }
      return (rows.filter { known[$0.key] != $0.value }, rows.filter { known[$0.key] == $0.value })
    }
  }

  /// First the keys that stand alone, then one section for each key with keys inside it, and one for each
  /// app.
  private var sections: [Section] {
    var alone: [(key: String, value: String)] = []
    var sections: [Section] = []
    for member in configuration.members ?? [] {
      if member.name == "apps" {
        for app in member.value.members ?? [] {
          sections.append(
            Section(
              name: "apps.\(app.name)", rows: Self.rows(app.value), defaults: Self.rows(defaults.app)))
        }
      } else if member.value.isNested {
        sections.append(
          Section(
            name: member.name, rows: Self.rows(member.value),
            defaults: Self.rows(defaults.own[member.name] ?? [:])))
      } else {
        alone.append((member.name, member.value.settingText))
      }
    }
    let general = Section(name: "general", rows: alone, defaults: Self.rows(defaults.own))
    return (alone.isEmpty ? [] : [general]) + sections
  }

  /// Every key below a value, with the keys above it before its name.
  private static func rows(_ value: JSONValue, below path: String = "") -> [(key: String, value: String)] {
    let parts: [(String, JSONValue)] =
      value.members?.map { (path.isEmpty ? $0.name : "\(path).\($0.name)", $0.value) }
      ?? (value.parts ?? []).enumerated().map { ("\(path)[\($0.offset)]", $0.element) }
    return parts.flatMap { key, value in
      value.isNested ? rows(value, below: key) : [(key, value.settingText)]
    }
  }

  private func card(_ section: Section) -> HTML {
    let parted = section.parted
    return Tag.section(.class("card settings"), .labelledBy("section-\(section.name)")) {
      Tag.h2(.id("section-\(section.name)")) { PageParts.untrusted(section.name) }
      if !parted.set.isEmpty { list(parted.set) }
      if !parted.rest.isEmpty {
        Tag.details {
          Tag.summary { PageParts.counted(Int64(parted.rest.count), "key") + " with the default" }
          list(parted.rest)
        }
      }
    }
  }

  private func list(_ rows: [(key: String, value: String)]) -> HTML {
    Tag.dl {
      for row in rows {
        Tag.div {
          Tag.dt { PageParts.untrusted(row.key) }
          Tag.dd { PageParts.untrusted(row.value) }
        }
      }
    }
  }
}

extension JSONValue {
  fileprivate var members: [Member]? { if case .object(let members) = self { members } else { nil } }

  fileprivate var parts: [JSONValue]? { if case .array(let parts) = self { parts } else { nil } }

  /// Whether it has keys, or elements with keys.
  fileprivate var isNested: Bool {
    switch self {
    case .object(let members): !members.isEmpty
    case .array(let elements): elements.contains { $0.isNested }
    default: false
    }
  }

  fileprivate var settingText: String {
    switch self {
    case .string(let text): text
    case .null: "not set"
    case .array(let elements):
      elements.isEmpty ? "none" : elements.map(\.settingText).joined(separator: ", ")
    case .object(let members) where members.isEmpty: "none"
    default: text
    }
  }
}

extension Dashboard {
  func settings() -> DashboardPage {
    SettingsPage(
      configuration: health.configuration.redacted, defaults: health.configuration.defaults,
      health: health.report(now: now), now: now
    ).page
  }
}
