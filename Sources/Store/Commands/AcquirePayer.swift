// Decides to whom a customer of a processor belongs.

public import Domain

/// Makes a user the owner of a processor's customer, unless it belongs to somebody: of two users who name it
/// at the same time, in any apps of the account, the writer's transaction decides.
public struct AcquirePayer: StoreCommand {
  public var place: AppProcessor
  /// Nil if the processor names none: then the customer is the app's.
  public var account: AccountID?
  public var customer: CustomerID
  public var user: UserID

  public init(
    _ customer: CustomerID, for user: UserID, at place: AppProcessor, _ account: AccountID? = nil
  ) {
    self.customer = customer
    self.user = user
    self.place = place
    self.account = account
  }

  public var reads: [ReadKey] { [.payer(app: place.app, processor: place.processor, id: customer)] }

  /// Also locks the account, whose other apps may be in another program's batch. No app has such a name.
  public var scope: CommandScope {
    .apps([place.app, AppSlug("\(place.processor) \(account?.text ?? "")")])
  }

  /// - Returns: whether the customer belongs to the user now; false if it is another user's.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    try store.payers.acquire(
      Payer(customer, at: place, account), for: user, store.erasures.currentHash,
      apps: store.apps(of: account, place.processor))
  }
}

extension StoreSession {
  /// The configured apps that use an account.
  fileprivate func apps(of account: AccountID?, _ processor: ProcessorName) -> [AppSlug] {
    guard let account else { return [] }
    return rules.filter { $0.value.processors[processor]?.account == account }.map(\.key)
  }

  /// Gives some payers of an app, which older versions stored by app, to the accounts that the app uses.
  /// - Returns: whether some are left.
  func adoptPayers(of app: AppSlug, _ rules: AppRules, limit: Int) throws(StoreFault) -> Bool {
    for (processor, rules) in rules.processors {
      guard let account = rules.account else { continue }
      let adopted = try payers.adopt(AppProcessor(app, processor), by: account, limit: limit)
      if adopted == limit { return true }
      if adopted > 0 { changes.sharedPayers = try SharedPayer.find(connection, limit: SharedPayer.shownMax) }
    }
    return false
  }
}
