// A model of the join and of claims: what the specification says about one purchase after some happenings, in
// whatever order they came. It knows neither the store nor the rules in `Domain`. Values; any thread.

/// One of the two users who may have bought it.
enum JoinParty: String, CaseIterable {
  case one, other
}

/// Something that happens to a purchase, once.
enum JoinHappening: Int, CaseIterable {
  case contextOfOne, contextOfOther
  /// `checkout.session.completed`, paid, with the reference of the shape.
  case completed
  /// `customer.subscription.created` or `invoice.paid`, as the shape says.
  case subscription
  /// The customer's metadata name one user.
  case customer
  /// A checkout that sold nothing names the other user for the same customer.
  case setup
  case claimByOne, claimByOther
  /// The user of the shape is erased.
  case erasure
  /// Minutes pass, and what is due is sent.
  case sending
  /// Minutes pass, and the destination accepts what was sent, or what is due now.
  case answer

  var passesTime: Bool { self == .sending || self == .answer }

  static func context(of party: JoinParty) -> Self { party == .one ? .contextOfOne : .contextOfOther }
}

/// What the events of the purchase name.
struct JoinShape {
  enum Reference: CaseIterable {
    case nothing, contextOfOne, userOne
  }

  enum Subscription: CaseIterable {
    /// It was created, without metadata.
    case unnamed
    /// An invoice was paid that has the relay's own key: the other user.
    case named
  }

  var reference: Reference
  var subscription: Subscription

  var erased: JoinParty { subscription == .named ? .other : .one }

  static let all = Reference.allCases.flatMap { reference in
    Subscription.allCases.map { JoinShape(reference: reference, subscription: $0) }
  }
}

struct JoinModel {
  /// What a receipt says.
  struct Content: Hashable {
    var user: JoinParty
    var hasContext: Bool
  }

  enum State: Hashable {
    /// No receipt: nothing is known to be paid.
    case none
    case waitsForUser
    /// Once its waits have ended.
    case ready(Content)
    case delivered(Content)
    case erased
  }

  /// Orders of the same happenings end in the same state. These are the only exceptions.
  struct Exceptions: Hashable {
    /// A claim sets a user only where there is none, and nothing beats it after that.
    var claimed: JoinParty?
    /// After a receipt was sent nothing of it changes.
    var sent: Content?
    /// A wait for a context ends after two minutes (contract: Join): one that comes later and is not named
    /// changes nothing, as long as the receipt has this user.
    var withoutContext: JoinParty?
    /// What a customer's other purchases teach does not bring back a purchase that was only noted.
    var wasNotedFirst = false
    /// An erasure concerns what was there before it.
    var beforeErasure: Set<JoinHappening>?
  }

  let shape: JoinShape
  private(set) var past: Set<JoinHappening> = []
  /// What happened and still names somebody.
  private var naming: Set<JoinHappening> = []
  /// Whether the reference became a user's only after it came.
  private var isReferenceLate = false
  /// Whether the reference named a user who was erased. It still named somebody.
  private var isReferenceErased = false
  private var isCustomerErased = false
  private var isErased = false
  /// Whether minutes have passed since it was bought.
  private var hasWaited = false
  private var wire: Content?
  private(set) var exceptions = Exceptions()

  init(_ shape: JoinShape) { self.shape = shape }

  // MARK: - State

  var state: State {
    if isErased { return .erased }
    if let sent = exceptions.sent { return .delivered(sent) }
    if let user { return .ready(Content(user: user, hasContext: hasContext(user))) }
    return past.contains(.completed) ? .waitsForUser : .none
  }

  private func hasContext(_ user: JoinParty) -> Bool {
    let isNamed = user == .one && shape.reference == .contextOfOne && naming.contains(.completed)
    return naming.contains(.context(of: user)) && (isNamed || exceptions.withoutContext != user)
  }

  /// The purchase's user.
  var user: JoinParty? { exceptions.sent?.user ?? names.first?.party ?? inferred }

  /// The users whom sources name, the strongest first.
  private var names: [(party: JoinParty, isAlwaysKept: Bool)] {
    guard isKnown else { return [] }
    let isReferenceKnown = naming.isSuperset(of: [.completed, .contextOfOne])
    var names = [exceptions.claimed].compactMap(\.self).map { (party: $0, isAlwaysKept: true) }
    if shape.reference == .contextOfOne, isReferenceKnown { names.append((.one, true)) }
    if shape.subscription == .named, naming.contains(.subscription) { names.append((.other, true)) }
    if shape.reference == .userOne, isReferenceKnown, !isReferenceErased {
      names.append((.one, !isReferenceLate))
    }
    if naming.contains(.customer) { names.append((.one, false)) }
    return names
  }

  private var isKnown: Bool { past.contains(.completed) || past.contains(.subscription) }

  /// The only user of the customer, if nobody is named who may be another one.
  private var inferred: JoinParty? {
    guard isKnown, naming.contains(.setup), !isCustomerErased, !awaitsName else { return nil }
    return past.contains(.completed) || !exceptions.wasNotedFirst ? .other : nil
  }

  /// Whether the reference names somebody who may still become known.
  private var awaitsName: Bool {
    shape.reference != .nothing && naming.contains(.completed)
      && (!naming.contains(.contextOfOne) || isReferenceErased)
  }

  /// Whether sources that count disagree; nil if the weaker one may be unknown to the purchase: a customer's
  /// metadata change nothing of a receipt with a user, nor does a reference that becomes known too late.
  var hasConflict: Bool? {
    let others = isErased ? [] : names.filter { $0.party != user }
    return others.isEmpty ? false : others.contains { $0.isAlwaysKept } ? true : nil
  }

  // MARK: - Happenings

  mutating func happen(_ happening: JoinHappening) {
    switch happening {
    case .contextOfOne, .contextOfOther, .completed, .subscription:
      naming.insert(happening)
      if happening == .contextOfOne, past.contains(.completed) { isReferenceLate = true }
    case .customer, .setup:
      if !isCustomerErased { naming.insert(happening) }
      if happening == .setup, past.contains(.subscription) { exceptions.wasNotedFirst = true }
    case .claimByOne: claim(by: .one)
    case .claimByOther: claim(by: .other)
    case .erasure: erase(shape.erased)
    case .sending: send()
    case .answer:
      let sent = wire
      send()
      wire = sent ?? wire
      if let wire { exceptions.sent = wire }
      wire = nil
    }
    past.insert(happening)
    if exceptions.withoutContext != user { exceptions.withoutContext = nil }
    if hasWaited, case .ready(let content) = state, !content.hasContext {
      exceptions.withoutContext = content.user
    }
  }

  private mutating func claim(by party: JoinParty) {
    if state == .waitsForUser { exceptions.claimed = party }
  }

  private mutating func send() {
    if state != .none { hasWaited = true }
    if case .ready(let content) = state { wire = content }
  }

  private mutating func erase(_ party: JoinParty) {
    exceptions.beforeErasure = past
    let user = user
    isErased = user == party
    isCustomerErased = isErased || naming.contains(party == .one ? .customer : .setup)
    naming.subtract(party == .one ? [.contextOfOne, .customer] : [.contextOfOther, .setup, .subscription])
    isReferenceErased = party == .one && shape.reference == .userOne && past.contains(.completed)
    if isReferenceErased, user != nil { naming.remove(.completed) }
  }
}
