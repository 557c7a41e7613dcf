// A job's request as stored and as displayed to operators: a JSON object with the names of the options. Pure;
// any thread.

internal import Domain
public import JSON

extension JobSource {
  /// `{"state":"failed","reason":"gave_up"}`; times are Unix milliseconds.
  public var json: JSONValue {
    switch self {
    case .ids(let count): return ["ids": .integer(Int64(count))]
    case .filter(let filter, let limit):
      var members: [JSONValue.Member] = []
      func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(.init(name: name, value: value)) }
      }
      add("app", filter.app.map(JSONValue.string))
      add("state", (filter.state?.rawValue).map(JSONValue.string))
      add("user", filter.userID.map(JSONValue.string))
      add("reason", filter.reason.map(JSONValue.string))
      add("cause", filter.cause.map(JSONValue.string))
      add("object", filter.objectID.map(JSONValue.string))
      add("import_id", filter.importID.map(JSONValue.string))
      add("no_import_id", filter.lacksImportID ? .bool(true) : nil)
      add("since", filter.since.map { .integer($0.unixMilliseconds) })
      add("until", filter.until.map { .integer($0.unixMilliseconds) })
      add("limit", limit.map { .integer(Int64($0)) })
      return .object(members)
    }
  }

  /// - Parameter text: as `json` was stored. An invalid text chooses no receipts.
  init(_ text: String) {
    // Written by `json` above.
    guard let json = try? JSONValue(parsing: Array(text.utf8)) else {
      self = .ids(count: 0)
      return
    }
    func integer(_ name: String) -> Int64? {
      guard case .integer(let number) = json[name] else { return nil }
      return number
    }
    if let count = integer("ids") {
      self = .ids(count: Int(clamping: count))
      return
    }
    var filter = ReceiptFilter()
    filter.app = json["app"]?.stringValue
    filter.state = (json["state"]?.stringValue).flatMap(ReceiptState.init)
    filter.userID = json["user"]?.stringValue
    filter.reason = json["reason"]?.stringValue
    filter.objectID = json["object"]?.stringValue
    filter.importID = json["import_id"]?.stringValue
    filter.cause = json["cause"]?.stringValue
    filter.lacksImportID = json["no_import_id"] == .bool(true)
    filter.since = integer("since").map(Timestamp.init(unixMilliseconds:))
    filter.until = integer("until").map(Timestamp.init(unixMilliseconds:))
    self = .filter(filter, limit: integer("limit").map { Int(clamping: $0) })
  }
}
