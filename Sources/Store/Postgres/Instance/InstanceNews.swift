// What a commit changed, as the text of a notification. Pure.

internal import Domain
internal import Formats
internal import Store

/// The changes of a commit, for the other programs. Times are Unix milliseconds.
///
/// The text has 8,000 bytes at most (https://www.postgresql.org/docs/15/sql-notify.html). Changes that do not
/// fit are replaced by one that says that anything may have changed.
enum InstanceNews {
  static let channel = "receipt_relay"
  private static let bytesMax = 7_900

  /// - Returns: nil if no other program needs to know.
  static func text(_ changes: StoreChanges, from sender: Int64) -> String? {
    var members: [JSONValue.Member] = []
    func add(_ name: String, _ times: [AppSlug: Timestamp]) {
      guard !times.isEmpty else { return }
      let list = times.sorted { $0.key < $1.key }.map { app, time in
        JSONValue.Member(name: app.text, value: .integer(time.unixMilliseconds))
      }
      members.append(.init(name: name, value: .object(list)))
    }
    add("due", changes.dueAt)
    add("replays", changes.replaysDueAt)
    if let until = changes.waitUntil {
      members.append(.init(name: "wait", value: .integer(until.unixMilliseconds)))
    }
    if changes.hasJobs { members.append(.init(name: "jobs", value: true)) }
    if changes.hasPauses { members.append(.init(name: "pauses", value: true)) }
    if !changes.contextIDs.isEmpty {
      let ids = changes.contextIDs.map(\.text).sorted().map(JSONValue.string)
      members.append(.init(name: "contexts", value: .array(ids)))
    }
    if !changes.lookupsDueAt.isEmpty {
      let places = changes.lookupsDueAt.map { place, time in
        JSONValue.array([
          .string(place.app.text), .string(place.processor.text), .integer(time.unixMilliseconds),
        ])
      }
      members.append(.init(name: "lookups", value: .array(places)))
    }
    guard !members.isEmpty else { return nil }
    let sender = JSONValue.Member(name: "from", value: .string(String(sender)))
    let text = String(decoding: JSONValue.object([sender] + members).serialized(), as: UTF8.self)
    return text.utf8.count <= bytesMax ? text : anything(from: Int64(sender.value.stringValue ?? "") ?? 0)
  }

  static func anything(from sender: Int64) -> String { "{\"from\":\"\(sender)\"}" }

  /// A text that changes nothing: its sender learns whether notifications arrive.
  static func test(from sender: Int64) -> String { "{\"from\":\"\(sender)\",\"test\":true}" }

  /// The sender and its changes; the changes are nil if anything may have changed.
  static func read(_ text: String) -> (sender: Int64?, changes: StoreChanges?) {
    guard let object = try? JSONValue(parsing: Array(text.utf8)), case .object(let members) = object else {
      return (nil, nil)
    }
    let sender = object["from"]?.stringValue.flatMap { Int64($0) }
    guard members.count > 1 else { return (sender, nil) }
    var changes = StoreChanges()
    changes.dueAt = times(object["due"])
    changes.replaysDueAt = times(object["replays"])
    changes.waitUntil = time(object["wait"])
    changes.hasJobs = object["jobs"] == true
    changes.hasPauses = object["pauses"] == true
    for id in elements(object["contexts"]).compactMap(\.stringValue) {
      changes.contextIDs.insert(ContextID(id))
    }
    for place in elements(object["lookups"]).map({ elements($0) }) where place.count == 3 {
      guard let app = place[0].stringValue, let processor = place[1].stringValue, let time = time(place[2])
      else { continue }
      changes.lookupsDueAt[AppProcessor(AppSlug(app), ProcessorName(processor))] = time
    }
    return (sender, changes)
  }

  private static func elements(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let elements)? = value { elements } else { [] }
  }

  private static func time(_ value: JSONValue?) -> Timestamp? {
    if case .integer(let number)? = value { Timestamp(unixMilliseconds: number) } else { nil }
  }

  private static func times(_ value: JSONValue?) -> [AppSlug: Timestamp] {
    guard case .object(let members)? = value else { return [:] }
    return members.reduce(into: [:]) { times, member in
      if let time = time(member.value) { times[AppSlug(member.name)] = time }
    }
  }
}
