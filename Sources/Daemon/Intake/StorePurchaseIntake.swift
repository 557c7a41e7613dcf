// Purchases in app stores that clients report. Runs on libmicrohttpd's threads, or on the key fetcher's
// thread after a fetch of a token's key; it must not block.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Partners
internal import Platform
internal import Reports
internal import Service
internal import Store

/// Takes in purchases that were made in an app store without the SDK of their destination.
struct StorePurchaseIntake: Sendable {
  let intake: Intake
  let gate: ClientGate
  let limits: RequestLimits

  /// The longest proof, and the other fields.
  static let bodyBytesMax = StorePurchase.receiptDataBytesMax + (64 << 10)

  /// Stores a purchase and answers the exchange; a refused request is answered with a problem.
  /// - Parameters:
  ///   - pathUser: the user that the path names.
  ///   - caller: the result of `ClientGate`; its token may still have to be checked.
  func ingest(
    _ request: Request, pathUser: String?, from caller: Caller, _ app: App, _ exchange: Exchange
  ) {
    gate.authorize(caller, app, exchange) { tokenUser in
      do throws(Problem) {
        let (purchase, user) = try Self.read(request, pathUser: pathUser, tokenUser: tokenUser, app)
        guard app.destinations(of: purchase.key).present != nil else { throw .noStoreDestination }
        let wait = limits.acquire(user: user, app: app.slug)
        guard wait == .zero else { throw .limited(.storePurchases, wait) }
        store(purchase, of: user, app, exchange)
      } catch {
        refuse(error, app, exchange)
      }
    }
  }

  private func store(_ purchase: StorePurchase, of user: UserID, _ app: App, _ exchange: Exchange) {
    let services = intake.services
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    let command = IngestStorePurchase(
      app: app.slug, userID: user, report: purchase.report(of: user, at: now),
      requestID: exchange.scope.requestID)
    let (platform, log) = (purchase.platform, services.requestLog)
    intake.store(command, app: app.slug, exchange) { outcome -> Void in
      switch outcome {
      case .stored(let stored), .repeated(let stored):
        var isRepeat = false
        if case .repeated = outcome { isRepeat = true }
        count(isRepeat ? "repeated" : "stored", app)
        exchange.answer { [isRepeat] in
          log.logStorePurchase(
            of: user, isRepeat: isRepeat, app: app.slug, requestID: exchange.scope.requestID)
          return Self.response(stored, isRepeat: isRepeat, of: user, on: platform)
        }
      case .otherUser: refuse(.purchaseOfAnotherUser, app, exchange)
      case .gone: refuse(.storePurchaseGone, app, exchange)
      }
    }
  }

  /// Counts a refused report.
  func refuse(_ problem: Problem, _ app: App, _ exchange: Exchange) {
    count(problem.storePurchaseResult, app)
    exchange.answer(problem)
  }

  /// Counts a report that was refused before its body was read, because too many came from one address.
  func limited(_ app: App) { count("limited", app) }

  private func count(_ result: String, _ app: App) {
    intake.services.metrics.storePurchases.increment(app.slug.text, result)
  }

  /// The purchase, and the user that the path names, which must be that of the body and of the token.
  private static func read(
    _ request: Request, pathUser: String?, tokenUser: UserID?, _ app: App
  ) throws(Problem) -> (StorePurchase, UserID) {
    let reading: StorePurchase.Reading
    do throws(StorePurchase.Fault) {
      reading = try StorePurchase.read(request.body)
    } catch {
      throw .storePurchase(error)
    }
    do throws(ContextPost.Fault) {
      if request.head.isUndecodable("X-User-Id") { throw .userNotText }
      let named = [pathUser].compactMap(\.self) + reading.users + request.head.headers("X-User-Id")
      guard let user = try ContextPost.user(among: named, tokenUser: tokenUser, app.userIDs) else {
        throw .userMissing
      }
      return (reading.purchase, user)
    } catch {
      throw error.problem
    }
  }

  private static func response(
    _ stored: IngestStorePurchase.Stored, isRepeat: Bool, of user: UserID, on platform: StorePlatform
  ) -> Response {
    let body: JSONValue = [
      "receipt_id": .string(stored.receiptID.text), "user_id": .string(user.text),
      "platform": .string(platform.rawValue), "store_product_id": .optional(stored.productID?.text),
      "state": .string(stored.state.rawValue), "replay": .bool(isRepeat),
      "received_at": .time(stored.receivedAt),
    ]
    var response = Response(
      status: isRepeat ? 200 : 201, type: "application/json", body: body.serialized())
    response.headers.append(("Cache-Control", "no-store"))
    return response
  }
}

// MARK: - Problems

extension Problem {
  static let onlyJSON = Problem(
    slug: "unsupported-media-type", status: 415, detail: "Send `Content-Type: application/json`.")
  static let noStoreDestination = Problem(
    slug: "no-store-destination", title: "No destination for purchases in app stores", status: 422,
    detail: "The app has no destination that takes purchases in app stores. The operator of this service "
      + "configures it; nothing was stored.")
  static let purchaseOfAnotherUser = Problem(
    slug: "purchase-of-another-user", status: 409,
    detail: "This purchase was reported for another user, and stays theirs. If it is this user's, ask the "
      + "operator of this service to correct its receipt.")
  static let storePurchaseGone = Problem(
    slug: "store-purchase-gone", title: "Purchase is not taken again", status: 410,
    detail: "The purchase was reported before, and its data were deleted: its user was erased, or the time "
      + "for which receipts are kept is over. Do not send it again.")

  /// A report that is not one of the table's. `reason` is the name of the field.
  static func storePurchase(_ fault: StorePurchase.Fault) -> Problem {
    func names(_ field: StorePurchase.Field) -> String { "`\(field.rawValue)`" }
    let detail: String
    switch fault {
    case .notJSON:
      return .invalid("invalid-json", "The body must be a JSON object: {\"platform\": \"…\", …}.")
    case .context(let cause): return ContextPost.Fault.blob(cause).problem
    case .missing(let field): detail = "\(names(field)) is missing. Each purchase on this `platform` has it."
    case .noProof(let fields):
      detail =
        "Send \(fields.map(names).joined(separator: " or ")): the one for which the app is set up at the "
        + "destination."
    case .exclusive(let one, let other):
      detail =
        "\(names(other)) and \(names(one)) exclude each other. Send the one for which the app is set up at "
        + "the destination."
    case .foreign(let field, let platform):
      detail =
        "\(names(field)) does not belong to a purchase on \(platform.rawValue). Leave it out, or correct "
        + "`platform`."
    case .invalid(let field, let words): detail = "\(names(field)) must be \(words)."
    case .differs(let field):
      detail = "\(names(field)) is given more than once, with different values. Send it once."
    }
    return Problem(
      slug: "invalid-store-purchase", title: "Invalid purchase", status: 422, detail: detail,
      reason: fault.field?.rawValue)
  }

  /// The label of a refused report in metrics.
  fileprivate var storePurchaseResult: String {
    switch slug {
    case Self.purchaseOfAnotherUser.slug: "other_user"
    case Self.storePurchaseGone.slug: "gone"
    case Limited.storePurchases.rawValue: "limited"
    default: "refused"
    }
  }
}
