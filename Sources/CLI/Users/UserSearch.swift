// Searches the stored events for a user: by ids that nothing else has, by e-mail addresses, and by the user's
// own id in the fields that carry it. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Store
internal import Terminal

/// Whom an erasure is about.
enum ErasureSubject {
  case user(UserID)
  /// A customer of a processor, of whom no user may be known.
  case customer(CustomerID)
  /// An e-mail address, in the form of `Mentions.address`.
  case address(String)

  var text: String {
    switch self {
    case .user(let user): user.text
    case .customer(let customer): customer.text
    case .address(let address): address
    }
  }
}

/// What was found of the subject so far.
struct UserSearch {
  /// Event rows that one step searches.
  static let slice: Int64 = 1000
  /// How often the search begins again, because what it found has more ids.
  private static let roundsMax = 16

  private let subject: ErasureSubject
  /// The only app to search; nil means all.
  private let app: AppSlug?
  /// The identifiers in each app that knows the subject; those that are true in any other.
  private(set) var names: [AppSlug: UserIdentifiers] = [:]
  private var common = UserIdentifiers()
  /// The subject's user; nil if none is known.
  private(set) var user: UserID?
  /// Purchases whose events name the address.
  private var purchases: Set<PurchaseRowID> = []
  /// Events without a purchase, and those whose bodies cannot be read.
  var loose: [EventRowID] = []
  private(set) var unreadable: [UnreadableEvent] = []
  private var searchedTo: EventRowID = 0
  /// What the events through `searchedTo` were searched for.
  private var searched = (names: [AppSlug: UserIdentifiers](), common: UserIdentifiers())
  private(set) var survey: UserSurvey

  init(_ subject: ErasureSubject, app: AppSlug?, _ reader: StoreReader) throws {
    (self.subject, self.app) = (subject, app)
    switch subject {
    case .user(let user):
      self.user = user
      common.users = [user]
    case .customer(let customer): common.add(customer)
    case .address(let address): common.add(address: address)
    }
    survey = try UserSurvey(of: user, app: app, reader)
  }

  /// The address that the command names; nil if it names a user or a customer.
  private var address: String? { if case .address(let address) = subject { address } else { nil } }

  /// Whether the events were searched for all that is known. What an event names may be in earlier events.
  var isComplete: Bool { names == searched.names && common == searched.common }

  /// Searches what no earlier call has searched.
  mutating func update(_ session: Session, _ reader: StoreReader) throws {
    for _ in 0..<Self.roundsMax {
      try survey(reader)
      if !isComplete { searchedTo = 0 }
      searched = (names, common)
      let owned = purchases
      try searchEvents(session, reader)
      if isComplete, purchases == owned { return }
    }
  }

  mutating func survey(_ reader: StoreReader) throws {
    var more = try reader.purchases(rows: purchases)
    if case .customer(let customer) = subject {
      more += try reader.purchases(ofCustomer: customer, limit: UserSurvey.listMax)
    }
    more = more.filter { app == nil || $0.app == app }
    if user == nil {
      var users = Set(more.compactMap(\.userID))
      if case .customer(let customer) = subject {
        users.formUnion(try reader.users(ofPayer: customer, limit: 3))
      }
      guard users.count < 2 else {
        let known = users.sorted().prefix(3).map { DisplayText.clean($0.text) }.joined(separator: ", ")
        throw OperatorFault(
          .refused,
          "\(DisplayText.clean(subject.text)) belongs to several users (\(known)); name the one to forget: "
            + "receiptctl users forget USER; nothing was changed")
      }
      user = users.first
      common.users = users
      for app in names.keys { names[app]?.users = users }
    }
    survey = try UserSurvey(of: user, and: more, app: app, reader)
    for part in survey.parts {
      var known = names[part.app] ?? common
      for customer in part.customers { known.add(customer) }
      for purchase in part.erasable {
        known.add(purchase.objectID)
        known.add(purchase.sessionID)
        for mentions in try reader.mentions(ofPurchase: purchase.row, ProcessorRegistry.standard.mentions) {
          known.add(mentions)
        }
      }
      names[part.app] = known
    }
    guard let user else { return }
    for context in try reader.contextIDs(ofUser: user) where app == nil || app == context.app {
      names[context.app, default: common].add(context.id)
    }
  }

  private mutating func searchEvents(_ session: Session, _ reader: StoreReader) throws {
    let last = EventRowID(try reader.lastRow(of: .events))
    guard searchedTo < last else { return }
    if searchedTo == 0 { (loose, unreadable) = ([], []) }
    var bar = ProgressBar(
      "searching events", total: Int(last.number), on: session.output.notes,
      clock: session.dependencies.clock)
    defer { bar.finish() }
    while searchedTo < last {
      let next = min(EventRowID(searchedTo.number + Self.slice), last)
      let found = try reader.searchEvents(after: searchedTo, through: next, includesOwned: address != nil) {
        event, body in
        finds(event, body)
      }
      loose += found.found
      unreadable += found.unreadable.filter { app == nil || $0.app == app }
      searchedTo = next
      bar.update(done: Int(next.number))
    }
  }

  /// Notes an event that names the subject.
  /// - Returns: whether it belongs to no purchase.
  private mutating func finds(_ event: SearchedEvent, _ body: [UInt8]) -> Bool {
    guard app == nil || app == event.app else { return false }
    let known = names[event.app] ?? common
    let mentions = ProcessorRegistry.standard.mentions(event.processor, in: body)
    if let purchase = event.purchase {
      if let address, mentions.addresses.contains(address) { purchases.insert(purchase) }
      return false
    }
    guard known.isNamed(in: body) || Self.finds(known, in: body) else { return false }
    // An address may be that of a family: it does not lead to further ids, except if it was asked for.
    let isAskedFor = address.map(mentions.addresses.contains) ?? false
    if isAskedFor || mentions.ids.contains(where: known.ids.contains) {
      names[event.app, default: common].add(mentions)
    }
    return true
  }

  private static func finds(_ names: UserIdentifiers, in body: [UInt8]) -> Bool {
    // Invalid JSON cannot be attributed to a user.
    (try? JSONValue(parsing: body)).map(names.isNamed(inEvent:)) ?? false
  }
}
