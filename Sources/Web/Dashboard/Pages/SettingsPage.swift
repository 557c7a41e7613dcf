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
  /// `Configuration.keys`
  let keys: [KeyDescription]
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

  /// A key with its value.
  private struct Row {
    let key: String
    let value: String
    let isDefault: Bool
  }

  /// A part of the configuration: its name, and its keys in order.
  private struct Section {
    let name: String
    let rows: [Row]
  }

  /// First the keys that stand alone, then one section for each key with keys inside it, and one for each
  /// app.
  private var sections: [Section] {
    var alone: [Row] = []
    var sections: [Section] = []
    for member in configuration.members ?? [] {
      let key = keys.first { $0.name == member.name }
      if member.name == "apps" {
        for app in member.value.members ?? [] {
          sections.append(Section(name: "apps.\(app.name)", rows: Self.rows(app.value, of: key?.each)))
        }
      } else if member.value.isNested {
        sections.append(Section(name: member.name, rows: Self.rows(member.value, of: key)))
      } else {
        alone += Self.rows(member.value, of: key, below: member.name)
      }
    }
    return (alone.isEmpty ? [] : [Section(name: "general", rows: alone)]) + sections
  }

  /// Every key below a value, with the keys above it before its name.
  private static func rows(
    _ value: JSONValue, of key: KeyDescription?, isDefault: Bool = false, below path: String = ""
  ) -> [Row] {
    let isDefault = isDefault || key?.need == .standard(value)
    guard value.isNested else { return [Row(key: path, value: value.settingText, isDefault: isDefault)] }
    if let parts = value.parts {
      return parts.enumerated().flatMap {
        rows($0.element, of: key?.each, isDefault: isDefault, below: "\(path)[\($0.offset)]")
      }
    }
    return (value.members ?? []).flatMap { member in
      rows(
        member.value, of: key?.shape.members.first { $0.name == member.name }, isDefault: isDefault,
        below: path.isEmpty ? member.name : "\(path).\(member.name)")
    }
  }

  private func card(_ section: Section) -> HTML {
    let changed = section.rows.filter { !$0.isDefault }
    let rest = section.rows.filter(\.isDefault)
    return Tag.section(.class("card settings"), .labelledBy("section-\(section.name)")) {
      Tag.h2(.id("section-\(section.name)")) { PageParts.untrusted(section.name) }
      if !changed.isEmpty { list(changed) }
      if !rest.isEmpty {
        Tag.details {
          Tag.summary { PageParts.counted(Int64(rest.count), "key") + " with the default" }
          list(rest)
        }
      }
    }
  }

  private func list(_ rows: [Row]) -> HTML {
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

extension KeyDescription {
  /// What is known of each object among those that it has by name, or in a list.
  fileprivate var each: KeyDescription {
    var each = self
    each.need = .section
    return each
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
      configuration: health.configuration.redacted, keys: health.configuration.keys,
      health: health.report(now: now), now: now
    ).page
  }
}
