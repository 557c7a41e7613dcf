// Asks Purchasely to erase a user. Blocks until the answers arrive; one thread.

internal import Config
internal import Domain
internal import HTTPClient
internal import Partners
internal import Service
internal import Terminal

/// The requests for the apps that may know a user.
struct UserDeletions {
  private let parts: [(app: AppSlug, purchasely: AppConfiguration.Purchasely, secret: Secret)]

  /// - Throws: before anything is changed, if the request was asked for and an app has no secret to sign it.
  init(_ session: Session, _ configuration: Configuration, apps: [AppSlug]) throws {
    guard session.command.flag("ask-purchasely") else {
      parts = []
      return
    }
    // An app that does not use Purchasely has nobody to ask.
    parts = try apps.compactMap { slug in
      guard let app = configuration.app(slug) else {
        throw OperatorFault(
          .configuration,
          "the app '\(DisplayText.clean(slug.text))' is not configured; Purchasely cannot be asked")
      }
      guard let purchasely = app.purchasely else { return nil }
      guard let secret = purchasely.clientSecret else {
        throw OperatorFault(
          .configuration,
          "apps.\(slug).purchasely.client_secret: is missing; write the client shared secret from "
            + "Purchasely's console as \"env:NAME\" or \"file:/path\", or leave --ask-purchasely out; "
            + "nothing was changed")
      }
      _ = try secret.reveal()
      _ = try purchasely.apiKey.reveal()
      return (slug, purchasely, secret)
    }
  }

  /// Sends the request of each app.
  /// - Returns: the request's id at Purchasely, or why it was not accepted and what to do.
  func ask(toForget user: UserID, _ session: Session) -> [(app: AppSlug, id: String?, fault: String?)] {
    parts.map { part in
      do {
        let deletion = try PurchaselyDeletion(
          userID: user, receiptsURL: part.purchasely.url, apiKey: try part.purchasely.apiKey.reveal(),
          clientSecret: try part.secret.reveal(), userAgent: Version.userAgent)
        let answer = try Self.send(deletion)
        guard let status = answer.status, (200..<300).contains(status) else {
          return (part.app, nil, Self.fault(answer.status))
        }
        let reading = Acceptance.read(
          DeliveryAnswer(status: status, contentType: answer.header("Content-Type"), body: answer.body))
        if case .notAccepted(let reason) = reading {
          let app = DisplayText.clean(part.app.text)
          return (
            part.app, nil,
            "Purchasely answered \(status) and accepted nothing (\(reason.text)); "
              + "see apps.\(app).purchasely.url, then run the command again"
          )
        }
        return (part.app, PurchaselyDeletion.requestID(in: answer.body), nil)
      } catch {
        return (part.app, nil, "Purchasely was not reached (\(error)); run the command again")
      }
    }
  }

  private static func fault(_ status: Int?) -> String {
    switch status {
    case 429: "Purchasely accepts 50 requests in ten minutes; run the command again in ten minutes"
    case 401, 403:
      "Purchasely refused the key or the signature (\(status ?? 0)); see api_key and client_secret"
    case let status?: "Purchasely answered \(status); run the command again, or ask its support"
    case nil: "Purchasely did not answer; run the command again"
    }
  }

  private static func send(_ deletion: PurchaselyDeletion) throws -> TransferResult {
    let pool = try TransferPool(connectionsMax: 1)
    let headers = deletion.headers.map { TransferHeader($0.name, $0.value) }
    try pool.start(
      TransferRequest(method: .post, url: deletion.url, headers: headers, body: deletion.body), tag: 0)
    while true {
      if let result = pool.run(timeout: .seconds(10)).first?.result { return result }
    }
  }
}
