// A job's request as stored and as displayed to operators: a JSON object with the names of the options. Pure;
// any thread.

internal import Domain
public import Formats

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
      add("app", filter.app.map { .string($0.text) })
      add("processor", filter.processor.map { .string($0.text) })
      add("state", (filter.state?.rawValue).map(JSONValue.string))
      add("user", filter.userID.map { .string($0.text) })
      add("customer", filter.customerID.map { .string($0.text) })
      add("reason", filter.reason.map(JSONValue.string))
      add("cause", filter.cause.map(JSONValue.string))
      add("status", filter.status.map { .string($0.text) })
      add("price", filter.priceID.map { .string($0.text) })
      add("join", (filter.join?.rawValue).map(JSONValue.string))
      add("object", filter.objectID.map { .string($0.text) })
      add("session", filter.sessionID.map { .string($0.text) })
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
    // A part that cannot be read must not choose more receipts than the operator saw.
    var isReadable = true
    func integer(_ name: String) -> Int64? {
      guard let value = json[name] else { return nil }
      if case .integer(let number) = value { return number }
      isReadable = false
      return nil
    }
    func string(_ name: String) -> String? {
      guard let value = json[name] else { return nil }
      if value.stringValue == nil { isReadable = false }
      return value.stringValue
    }
    if let count = integer("ids") {
      self = .ids(count: Int(clamping: count))
      return
    }
    var filter = ReceiptFilter()
    filter.app = string("app").map(AppSlug.init)
    filter.processor = string("processor").map(ProcessorName.init)
    if let state = string("state") {
      filter.state = ReceiptState(rawValue: state)
      if filter.state == nil { isReadable = false }
    }
    filter.userID = string("user").map(UserID.init)
    filter.customerID = string("customer").map(CustomerID.init)
    filter.reason = string("reason")
    filter.objectID = string("object").map(ObjectID.init)
    filter.sessionID = string("session").map(SessionID.init)
    filter.importID = string("import_id")
    filter.cause = string("cause")
    if let status = string("status") {
      filter.status = AnswerStatus(status)
      if filter.status == nil { isReadable = false }
    }
    filter.priceID = string("price").map(PriceID.init)
    if let join = string("join") {
      filter.join = JoinOutcome(rawValue: join)
      if filter.join == nil { isReadable = false }
    }
    filter.lacksImportID = json["no_import_id"] == .bool(true)
    filter.since = integer("since").map(Timestamp.init(unixMilliseconds:))
    filter.until = integer("until").map(Timestamp.init(unixMilliseconds:))
    let limit = integer("limit").map { Int(clamping: $0) }
    self = isReadable ? .filter(filter, limit: limit) : .ids(count: 0)
  }
}
