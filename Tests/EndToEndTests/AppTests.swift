// CheckoutKit with its own transport, against receiptd.

import CheckoutKit
import Domain
import Formats
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The kit's transport, with a stream of its requests.
private struct WatchedTransport: Transport {
  let transport = URLSessionTransport()
  let requests = AsyncStream.makeStream(of: URLRequest.self)
  let failures = AsyncStream.makeStream(of: (any Error).self)

  func send(_ request: URLRequest) async throws -> (Data, URLResponse) {
    requests.continuation.yield(request)
    do {
      return try await transport.send(request)
    } catch {
      failures.continuation.yield(error)
      throw error
    }
  }
}

/// Returns tokens in order, and then the last one again and again.
private actor Tokens {
  private var tokens: [String]
  private(set) var given = 0

  init(_ tokens: String...) { self.tokens = tokens }

  func next() -> String {
    given += 1
    return tokens.count > 1 ? tokens.removeFirst() : tokens[0]
  }
}

@Suite(.withDaemonLog) struct AppTests {
  /// An asynchronous test may continue many minutes later under a sanitizer, because others hold its threads.
  private static let patience: TimeInterval = 24 * 3600

  private static func client(
    _ port: UInt16, key: String = Secrets.clientKey, transport: any Transport = URLSessionTransport()
  ) throws -> RelayClient {
    RelayClient(
      relay: try #require(URL(string: "http://127.0.0.1:\(port)")), app: "shop", credential: .clientKey(key),
      transport: transport,
      retries: RetryPolicy(attemptsMax: .max, firstPause: 0.02, pauseMax: 0.1, patience: patience, jitter: 0))
  }

  private static func context(_ checkout: Checkout) -> WebCheckoutContext {
    WebCheckoutContext(
      stripePriceID: checkout.price,
      attributes: [
        "ply_last_presentation_displayed": "pres_\(checkout.user)",
        "ply_last_placement_displayed": "onboarding",
      ])
  }

  /// Like `withRelay`, for asynchronous code.
  private static func withRelay(
    top: JSONValue = [:], starting: Bool = true, _ body: (Relay, Destination) async throws -> Void
  ) async throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination, top: top)
    try await Relay.$logPath.withValue(relay.logPath) {
      if starting { try relay.start() }
      try await body(relay, destination)
    }
  }

  @Test("The app posts its context, posts it again, and follows the checkout until it is delivered")
  func followsACheckout() async throws {
    try await Self.withRelay { relay, destination in
      let checkout = Checkout("app-user-1")
      let context = Self.context(checkout)
      let transport = WatchedTransport()
      let client = try Self.client(relay.outside.api.port, transport: transport)
      let posted = try await client.post(context, userID: checkout.user)
      #expect(!posted.isRepeat)
      #expect(posted.userID == checkout.user)
      #expect(posted.stripePriceID == checkout.price)
      #expect(try #require(posted.expiresAt) > #require(posted.receivedAt))
      let again = try await client.post(context, userID: checkout.user)
      #expect(again.isRepeat)
      #expect(again.contextID == posted.contextID)
      #expect(try await client.status(of: posted.contextID).state == .open)

      async let states = client.updates(of: posted.contextID, within: Self.patience)
        .reduce(into: [CheckoutKit.CheckoutStatus]()) { $0.append($1) }
      for await request in transport.requests.stream where request.url?.query == "wait=15" { break }
      try relay.ingest(checkout.completed)
      let all = try await states
      #expect(all.first?.state == .open)
      #expect(all.last?.state == .delivered)
      #expect(all.last?.receiptID == (try relay.receipt(of: checkout.subscription)?.id.text))
      // Purchasely received the app's context, byte for byte.
      let delivered = try #require(destination.ledger(of: checkout.subscription).first)
      #expect(delivered["ply_context"] == (try context.plyContext()))
      let final = try await client.finalStatus(of: posted.contextID)
      #expect(final.progress == .processed)
    }
  }

  @Test("The app is given the checkout page of its price; a price without one is refused")
  func checksOut() async throws {
    let links: JSONValue = [
      "origin": "https://pay.example.com",
      "checkout": .object([.init(name: Checkout.price, value: "https://buy.stripe.com/test?x=y")]),
    ]
    try await Self.withRelay(top: ["apps": ["shop": ["links": links]]]) { relay, _ in
      let checkout = Checkout("app-user-4")
      let client = try Self.client(relay.outside.api.port)
      let posted = try await client.checkout(Self.context(checkout), userID: checkout.user)
      let page = "https://buy.stripe.com/test?x=y&client_reference_id=\(posted.contextID)"
      #expect(posted.checkoutURL?.absoluteString == page)
      let again = try await client.post(Self.context(checkout), userID: checkout.user)
      #expect(again.isRepeat)
      #expect(again.checkoutURL == posted.checkoutURL)
      let unknown = WebCheckoutContext(stripePriceID: "price_of_no_page")
      let error = await #expect(throws: RelayError.self) {
        try await client.checkout(unknown, userID: checkout.user)
      }
      guard case .http(let failure) = error else { throw NeverHappened(what: "a refusal") }
      #expect(failure.status == 422)
      #expect(failure.problem?.type == "urn:receiptd:problem:unknown-price")
      #expect(try relay.count("contexts") == 1)
    }
  }

  @Test("A purchase without a user gets the account of the customer who opens its claim link in the app")
  func claims() async throws {
    try await Self.withRelay { relay, destination in
      let checkout = Checkout("app-user-9")
      try relay.ingest(
        checkout.subscriptionEvent(), checkout.sessionEvent("completed", ["client_reference_id": .null]))
      let receipt = try waitFor("a receipt that waits for its user") {
        let found = try relay.receipt(of: checkout.subscription)
        return found?.state == .waiting && found?.reason == .user ? found : nil
      }
      let made = try ShellRun([
        Program.receiptctl, "--config", relay.configurationPath, "claims", "new", receipt.id.text, "--why",
        "customer wrote", "--json",
      ])
      let token = try #require(
        try JSONValue(parsing: Array(made.output.utf8))["token"]?.stringValue, "\(made.output)")
      let url = try #require(URL(string: "https://pay.example.com/v1/shop/claim/\(token)"))
      let link = try #require(ClaimLink.read(url, hosts: ["pay.example.com"]))
      let client = try Self.client(relay.outside.api.port)
      #expect(try await client.claim(link, userID: "jdo-1") == .claimed)
      #expect(try await client.claim(link, userID: "jdo-1") == .replay)
      #expect(try await client.claim(link, userID: "jdo-2") == .otherUser)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger(of: checkout.subscription).map { $0["user_id"] } == ["jdo-1"])
      let other = url.absoluteString.dropLast(26) + "00000000000000000000000000"
      let unknown = try #require(
        URL(string: String(other)).flatMap { ClaimLink.read($0, hosts: ["pay.example.com"]) })
      #expect(try await client.claim(unknown, userID: "jdo-1") == .unknown)
    }
  }

  @Test func `PL24: the app can read every link on the return page`() async throws {
    let links: JSONValue = [
      "origin": "https://pay.example.com",
      "ios": ["app_ids": ["ABCDE12345.com.example.app"], "scheme": "exampleapp"],
      "return": ["name": "Example", "ios_store": "https://apps.apple.com/app/id1"],
    ]
    try await Self.withRelay(top: ["apps": ["shop": ["links": links]]]) { relay, _ in
      let posted = try await Self.client(relay.outside.api.port)
        .post(Self.context(Checkout("app-user-5")), userID: "app-user-5")
      for (query, expected) in [
        ("context_id=\(posted.contextID)", CheckoutReturn(app: "shop", contextID: posted.contextID)),
        ("session_id=cs_test_1", CheckoutReturn(app: "shop", sessionID: "cs_test_1")),
      ] {
        let page = try relay.outside.api.request(
          "GET", "/v1/shop/return?\(query)", headers: ["User-Agent": "Mozilla/5.0 (iPhone; like Mac OS X)"])
        let addresses = page.text.matches(of: #/<a [^>]*href="([^"]+)"/#)
          .map { $0.1.replacingOccurrences(of: "&amp;", with: "&") }
        let ways = try addresses.map { address in
          CheckoutReturn(
            try #require(URL(string: address)), hosts: ["pay.example.com"], schemes: ["exampleapp"])
        }
        #expect(ways == [expected, expected, nil], "\(addresses)")
        #expect(addresses.map { $0.prefix { $0 != ":" } } == ["https", "exampleapp", "https"])
      }
    }
  }

  @Test("A refused key, an unknown app and an unknown context have the relay's own advice")
  func isRefused() async throws {
    try await Self.withRelay { relay, _ in
      let port = relay.outside.api.port
      let context = Self.context(Checkout("app-user-2"))
      let refused = await #expect(throws: RelayError.self) {
        try await Self.client(port, key: "wrong").post(context, userID: "app-user-2")
      }
      guard case .http(let failure) = refused else { throw NeverHappened(what: "a refusal") }
      #expect(failure.status == 401)
      #expect(failure.problem?.type == "urn:receiptd:problem:unauthorized")
      #expect(failure.problem?.requestID?.isEmpty == false)
      #expect(failure.body.forLog.contains("client key"))
      #expect(!"\(failure)".contains("wrong"))
      let unknown = await #expect(throws: RelayError.self) {
        try await Self.client(port).finalStatus(of: "ctx_01HXZ4T9V8KQ2M3N4P5R6S7T8V")
      }
      #expect(unknown?.status == 404)
      #expect(try relay.count("contexts") == 0)
    }
  }

  @Test(arguments: ["a/b?c#d", "é ü", "100%", "a+b&c=d", "..a"])
  func `Any user id arrives unchanged`(_ user: String) async throws {
    try await Self.withRelay { relay, _ in
      let client = try Self.client(relay.outside.api.port)
      let posted = try await client.post(Self.context(Checkout("x")), userID: user)
      #expect(Array(posted.userID.utf8) == Array(user.utf8))
    }
  }

  @Test func `With a token of its user the app posts for that user alone`() async throws {
    let issuer = try TokenIssuer(.secret)
    let directory = try TestFolder()
    try directory.write(try TokenIssuer.keySet([issuer]), to: "keys.json")
    let rules: JSONValue = [
      "issuer": "https://id.example.com/", "audience": "relay",
      "keys": .string("file:" + directory.file("keys.json")),
    ]
    try await Self.withRelay(top: ["apps": ["shop": ["client": ["jwt": rules]]]]) { relay, _ in
      let token = try issuer.token([
        "iss": "https://id.example.com/", "aud": "relay", "sub": "ann",
        "exp": .integer(Stripe.unixSeconds + Int64(Self.patience)),
      ])
      // The first token expires in transit and is renewed.
      let expired = try issuer.token([
        "iss": "https://id.example.com/", "aud": "relay", "sub": "ann",
        "exp": .integer(Stripe.unixSeconds - 600),
      ])
      let tokens = Tokens(expired, token)
      let client = RelayClient(
        relay: try #require(URL(string: "http://127.0.0.1:\(relay.outside.api.port)")), app: "shop",
        credential: .token { await tokens.next() }, retries: .none)
      let context = Self.context(Checkout("ann"))
      let posted = try await client.post(context, userID: "ann")
      #expect(await tokens.given == 2)
      #expect(posted.userID == "ann")
      #expect(!posted.isRepeat)
      let refused = await #expect(throws: RelayError.self) {
        try await client.post(context, userID: "bob")
      }
      guard case .http(let failure) = refused else { throw NeverHappened(what: "a refusal") }
      #expect(failure.status == 403)
      #expect(failure.problem?.type == "urn:receiptd:problem:wrong-user")
      #expect(!"\(failure)".contains(token))
      #expect(try await client.status(of: posted.contextID).state == .open)
      #expect(try relay.count("contexts") == 1)
    }
  }

  @Test func `A post succeeds when the relay starts while the app retries`() async throws {
    let port = try ReservedPort()
    let top: JSONValue = ["listen": ["port": .integer(Int64(port.number))]]
    try await Self.withRelay(top: top, starting: false) { relay, _ in
      let transport = WatchedTransport()
      let checkout = Checkout("app-user-3")
      let client = try Self.client(port.number, transport: transport)
      async let posted = client.post(Self.context(checkout), userID: checkout.user)
      var failures = 0
      for await _ in transport.failures.stream {
        failures += 1
        if failures == 2 { break }
      }
      try relay.start()
      let context = try await posted
      #expect(try relay.state(ofContext: context.contextID) == "open")
      #expect(try relay.count("contexts") == 1)

      // A status request survives a restart of the relay.
      async let status = client.finalStatus(of: context.contextID, within: Self.patience)
      for await request in transport.requests.stream where request.url?.query == "wait=15" { break }
      try relay.stop()
      try relay.start()
      try relay.ingest(checkout.completed)
      #expect(try await status.state == .delivered)
    }
  }

  @Test("The app sells while the relay is down, and its context is posted after the payment")
  func sellsWithoutTheRelay() async throws {
    let port = try ReservedPort()
    let folder = try TestFolder()
    let top: JSONValue = ["listen": ["port": .integer(Int64(port.number))]]
    try await Self.withRelay(top: top, starting: false) { relay, destination in
      let checkout = Checkout("app-user-6")
      let page = try #require(URL(string: "https://buy.stripe.com/test"))
      let client = RelayClient(
        relay: try #require(URL(string: "http://127.0.0.1:\(port.number)")), app: "shop",
        credential: .clientKey(Secrets.clientKey), retries: .none)
      let outbox = CheckoutOutbox(
        relay: client, folder: URL(fileURLWithPath: folder.file("outbox"))
      ) { _ in page }
      let begun = try await outbox.begin(Self.context(checkout), userID: checkout.user)
      #expect(begun.posted == nil)
      #expect(begun.page.absoluteString == "\(page)?client_reference_id=\(begun.contextID)")
      try relay.start()
      try relay.ingest(checkout.sessionEvent("completed", ["client_reference_id": .string(begun.contextID)]))
      try relay.reaches(.waiting, checkout.subscription)
      #expect(await outbox.flush() == 0)
      #expect(try await client.finalStatus(of: begun.contextID, within: Self.patience).progress == .processed)
      let delivered = try #require(destination.ledger(of: checkout.subscription).first)
      #expect(delivered["ply_context"] == (try Self.context(checkout).plyContext()))
      #expect(delivered["user_id"] == checkout.user)
    }
  }
}
