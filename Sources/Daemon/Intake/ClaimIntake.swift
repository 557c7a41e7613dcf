// Claims: a client brings the token of a paid purchase that names no user, and asks what became of it. Runs
// on libmicrohttpd's threads, or on the key fetcher's thread after a fetch of a token's key; it must not
// block.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Service
internal import Store

/// Gives purchases to the users who bring their tokens.
struct ClaimIntake: Sendable {
  let intake: Intake
  let gate: ClientGate
  let limits: RequestLimits
  let checkouts: CheckoutPolls

  /// The size limit of the return page's form, which has one id.
  static let formBytesMax = 1024

  /// Answers a posted token: with the claim, or with a problem.
  /// - Parameters:
  ///   - pathUser: the user that the path names.
  ///   - caller: the result of `ClientGate`; its token may still have to be checked.
  func ingest(
    _ request: Request, pathUser: String?, from caller: Caller, _ app: App, _ exchange: Exchange
  ) {
    gate.authorize(caller, app, exchange) { tokenUser in
      do throws(Problem) {
        let user = try Self.user(request.head, pathUser: pathUser, tokenUser: tokenUser, app)
        let wait = limits.acquire(user: user, app: app.slug)
        guard wait == .zero else {
          gate.count(app, "limited")
          throw .limited(.claims, wait)
        }
        guard let token = ClaimToken(try Self.token(in: request)) else { throw .unknownClaim }
        use(token, by: user, app, exchange)
      } catch {
        refuse(error, app, exchange)
      }
    }
  }

  private func use(_ token: ClaimToken, by user: UserID, _ app: App, _ exchange: Exchange) {
    let command = UseClaim(token, app: app.slug, userID: user, requestID: exchange.scope.requestID)
    intake.store(command, app: app.slug, exchange) { outcome -> Void in
      switch outcome {
      case .claimed(let id, let receiptID):
        count("claimed", app)
        exchange.answer { Self.response(201, id, receiptID, of: user, app.slug) }
      case .repeated(let id, let receiptID):
        count("replay", app)
        exchange.answer { Self.response(200, id, receiptID, of: user, app.slug) }
      case .otherUser: refuse(.claimedByAnotherUser, app, exchange)
      case .gone: refuse(.claimGone, app, exchange)
      case .unknown: refuse(.unknownClaim, app, exchange)
      }
    }
  }

  /// Answers the button of the return page: makes a claim, and leads the browser to its page. A checkout that
  /// cannot be claimed leads back to the return page, which says what became of it.
  func offer(_ request: Request, _ app: App, _ exchange: Exchange) {
    let session = (try? FormFields.value(of: "session_id", in: request.body.span)).flatMap(\.self)
    let back = Self.redirect(to: Link("v1", app.slug.text, "return", query: [("session_id", session)]).text)
    let now = Timestamp(unixMilliseconds: intake.services.clock.wallMilliseconds)
    let receiptID: ReceiptID
    do throws(StoreFault) {
      let names = session.map { [CheckoutName.session(SessionID($0))] } ?? []
      let found = try checkouts.statuses(of: names, app: app.slug, requestID: exchange.scope.requestID)
      guard let status = found.first ?? nil, status.offersClaim(now: now), let id = status.receiptID else {
        return exchange.answer(back)
      }
      receiptID = id
    } catch {
      return exchange.answer(.readFailed)
    }
    let command = OfferClaim(receiptID, app: app.slug, origin: .page, lifetime: app.claims.lifetime)
    intake.store(command, app: app.slug, exchange) { outcome -> Void in
      guard case .offered(_, let token) = outcome else { return exchange.answer(back) }
      count("offered", app)
      exchange.answer(Self.redirect(to: AppConfiguration.Links.claimPath(token, slug: app.slug)))
    }
  }

  /// `303 See Other` (RFC 9110 §15.4.4).
  private static func redirect(to path: String) -> Response {
    Response(
      status: 303,
      headers: [("Location", path), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")])
  }

  private func count(_ result: String, _ app: App) {
    intake.services.metrics.claims.increment(app.slug.text, result)
  }

  private func refuse(_ problem: Problem, _ app: App, _ exchange: Exchange) {
    count(problem.claimResult, app)
    exchange.answer(problem)
  }

  /// The user that the path names, which must be the token's.
  static func user(
    _ head: RequestHead, pathUser: String?, tokenUser: UserID?, _ app: App
  ) throws(Problem) -> UserID {
    do throws(ContextPost.Fault) {
      if head.isUndecodable("X-User-Id") { throw .userNotText }
      let named = [pathUser].compactMap(\.self) + head.headers("X-User-Id")
      guard let user = try ContextPost.user(among: named, tokenUser: tokenUser, app.userIDs) else {
        throw .userMissing
      }
      return user
    } catch {
      throw error.problem
    }
  }

  /// The text in the body that should be a token.
  private static func token(in request: Request) throws(Problem) -> String {
    let found: String?
    if request.head.mediaType == .form {
      found = try? FormFields.value(of: "token", in: request.body.span)
    } else {
      found =
        JSONDocument.read(request.body) { root in
          var text: String?
          root.forEachMember { key, value in
            if key.isString("token"), let string = value.string { text = string }
          }
          return text
        } ?? nil
    }
    guard let found else { throw .missingClaimToken }
    return found
  }

  private static func response(
    _ status: Int, _ id: ClaimID, _ receiptID: ReceiptID, of user: UserID, _ app: AppSlug
  ) -> Response {
    let statusURL = Link("v1", app.text, "users", user.text, "claims", id.text).text
    let body: JSONValue = [
      "claim_id": .string(id.text), "user_id": .string(user.text), "receipt_id": .string(receiptID.text),
      "replay": .bool(status == 200), "status_url": .string(statusURL),
    ]
    var response = Response(status: status, type: "application/json", body: body.serialized())
    response.headers += [("Location", statusURL), ("Cache-Control", "no-store")]
    return response
  }
}

extension Problem {
  static let missingClaimToken = Problem.invalid(
    "missing-token", "Send the token of the link as {\"token\": \"clm_…\"}, in JSON or in a form.")
  static let unknownClaim = Problem(
    slug: "unknown-claim", status: 404,
    detail: "There is no such claim. Send the token exactly as the link has it, `clm_` and 26 characters.")
  static let claimGone = Problem(
    slug: "claim-gone", title: "Claim cannot be used any more", status: 410,
    detail: "The claim expired or was revoked, or the purchase ended. Ask the merchant's support.")
  static let claimedByAnotherUser = Problem(
    slug: "claimed-by-another-user", status: 409,
    detail: "Another user has claimed this purchase. Sign in as that user, or ask the merchant's support.")

  /// The label of a refused claim in metrics.
  fileprivate var claimResult: String {
    switch slug {
    case Self.claimedByAnotherUser.slug: "other_user"
    case Self.claimGone.slug: "gone"
    case Self.unknownClaim.slug: "unknown"
    case Limited.claims.rawValue: "limited"
    default: "refused"
    }
  }
}
