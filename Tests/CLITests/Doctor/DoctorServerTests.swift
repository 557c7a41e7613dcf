// `receiptctl doctor` and the servers that it asks: the public address, destinations, processors, and the
// caches of association files.

import Domain
import Formats
import HTTPClient
import HTTPServer
import Platform
import Sandbox
import Store
import Testing

@testable import Service

@Suite("Doctor and servers") struct DoctorServerTests {
  private static let types = [
    "checkout.session.completed", "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed", "checkout.session.expired", "customer.subscription.created",
    "customer.subscription.updated", "customer.subscription.deleted", "invoice.paid",
  ]

  /// A relay whose processor is the simulated Stripe, at the machine's time.
  private func harness(_ stripe: SandboxStripe?, origin: String? = nil) throws -> OperatorHarness {
    let harness = try OperatorHarness()
    let links = origin.map { "links: { origin: '\($0)' }," } ?? ""
    try harness.configureWell(links)
    if let stripe {
      try harness.configure {
        $0.replacing("stripe: {", with: "stripe: { api_key: 'env:API_KEY', api_base: '\(stripe.base)',")
      }
    }
    harness.clock.advance(
      Timestamp(unixMilliseconds: SystemClock().wallMilliseconds).duration(since: harness.clock.now))
    return harness
  }

  @Test func `The processor accepts the key, refuses it, limits requests, or does not answer`() throws {
    let stripe = try SandboxStripe()
    let harness = try harness(stripe)
    func page() throws -> DoctorPage { try DoctorPage(harness, "--only", "processor") }
    try page().expect(.ok, .processor, "stripe of ios accepts the key (200 in ")
    stripe.behaviour.apiKey = "another"
    try page().expect(.failure, .processor, "refuses the key (http_401)")
    stripe.behaviour = SandboxStripeBehaviour(status: 429)
    try page().expect(.warning, .processor, "limits")
    stripe.behaviour = SandboxStripeBehaviour(status: 500)
    try page().expect(.failure, .processor, "does not answer (http_500)")
    stripe.stop()
    try page().expect(.failure, .processor, "Connection refused")
  }

  @Test func `The processor's clock shows by how much this machine's is wrong`() throws {
    let stripe = try SandboxStripe()
    let harness = try harness(stripe)
    func page() throws -> DoctorPage { try DoctorPage(harness, "--only", "clock") }
    #expect(try page().findings.map(\.level) == [.ok])
    harness.clock.advance(.minutes(2))
    try page().expect(.warning, .clock, "ahead of Stripe's")
    harness.clock.advance(.minutes(-4))
    try page().expect(.warning, .clock, "behind Stripe's")
    harness.clock.advance(.minutes(-4))
    try page().expect(.failure, .clock, "so its webhooks are refused")
    stripe.stop()
  }

  @Test("The webhook endpoint at the processor: registered, enabled, with every event, and only once")
  func webhooks() throws {
    let stripe = try SandboxStripe(behaviour: SandboxStripeBehaviour(pageSizeMax: 2))
    let harness = try harness(stripe, origin: "https://pay.example.com")
    func page() throws -> DoctorPage { try DoctorPage(harness, "--only", "webhooks") }
    func register(_ url: String, _ types: [String], isEnabled: Bool = true) {
      stripe.records.register(url, types: types, isEnabled: isEnabled)
    }
    let path = "/v1/ios/webhooks/stripe"
    for number in 1...3 { register("https://pay.example.com/v1/other\(number)/webhooks/stripe", ["*"]) }
    try page().expect(.failure, .webhooks, "no endpoint is registered for \(path)")
    #expect(try page().findings[0].next?.contains("https://pay.example.com\(path) for checkout.") == true)
    register("https://pay.example.com\(path)", Self.types, isEnabled: false)
    try page().expect(.failure, .webhooks, "the endpoint is disabled")
    stripe.records = StripeRecords()
    register("https://pay.example.com\(path)", Array(Self.types.dropLast(2)))
    try page().expect(.failure, .webhooks, "lacks customer.subscription.deleted, invoice.paid")
    stripe.records = StripeRecords()
    for number in 1...3 { register("https://pay.example.com/v1/other\(number)/webhooks/stripe", ["*"]) }
    register("https://pay.example.com\(path)?x=1", Self.types)
    // It is on the second page.
    for number in 4...6 { register("https://pay.example.com/v1/other\(number)/webhooks/stripe", ["*"]) }
    try page().expect(.ok, .webhooks, "one endpoint, all 8 types")
    register("https://pay.example.com\(path)", ["*"])
    try page().expect(.warning, .webhooks, "2 endpoints have this path")
    stripe.records = StripeRecords()
    register("https://old.example.com\(path)", ["*"])
    try page().expect(.warning, .webhooks, "events go to old.example.com")
    stripe.behaviour.listsEndpoints = false
    try page().expect(.warning, .webhooks, "may not list webhook endpoints (http_403)")
    stripe.stop()
  }

  @Test func `Without a key only the events show that webhooks come`() throws {
    let harness = try harness(nil)
    try DoctorPage(harness, "--local", "--only", "webhooks").expect(.warning, .webhooks, "no event")
    try harness.purchase("sub_1")
    try DoctorPage(harness, "--local", "--only", "webhooks").expect(.ok, .webhooks, "the last event")
  }

  @Test func `The public address leads to this receiptd, or shows who answers there`() throws {
    let host = Host()
    let server = try Server(ServerConfiguration(address: "127.0.0.1"), handler: host)
    let harness = try harness(nil, origin: "http://127.0.0.1:\(server.port)")
    func page() throws -> DoctorPage { try DoctorPage(harness, "--only", "address") }
    func serve(_ response: Response) {
      host.answers.withLock { $0["/v1/ios/contexts/ctx_doctor"] = response }
    }
    func problem(_ slug: String) -> Response {
      let body: JSONValue = ["type": .string("urn:receiptd:problem:\(slug)")]
      return Response(status: 404, type: "application/problem+json", body: body.serialized())
    }
    serve(problem("unknown-context"))
    try page().expect(.ok, .address, "leads to receiptd (404 in ")
    serve(problem("unauthorized"))
    try page().expect(.ok, .address, "leads to receiptd")
    serve(problem("unknown-app"))
    try page().expect(.failure, .address, "does not have the app ios")
    serve(Response(status: 502, type: "text/html", body: Array("<h1>Bad Gateway</h1>".utf8)))
    try page().expect(.failure, .address, "another server than receiptd answers")
    serve(Response(status: 301, headers: [("Location", "https://www.example.com/")]))
    try page().expect(.failure, .address, "(301, to https://www.example.com/)")
    server.stop(grace: .zero)
    try page().expect(.failure, .address, "Connection refused")
  }

  @Test func `A destination that answers anything can be reached, and gets no credentials`() throws {
    let destination = try SandboxDestination()
    let harness = try harness(nil)
    try harness.configure {
      $0.replacing(
        "purchasely: {", with: "purchasely: { url: 'http://127.0.0.1:\(destination.port)/receipts',")
    }
    func page() throws -> DoctorPage { try DoctorPage(harness, "--only", "destination") }
    try page().expect(.ok, .destination, "purchasely of ios answers (")
    let breaker = Breaker(state: .paused, since: harness.clock.now, cause: .status(401))
    try harness.store(SaveBreaker(AppDestination("ios", "purchasely"), breaker))
    let refusing = try page()
    refusing.expect(.failure, .destination, "purchasely of ios answers, but refuses receipts (http_401)")
    #expect(refusing.of(.destination).allSatisfy { $0.level != .ok })
    destination.stop()
    let refused = try page()
    refused.expect(.failure, .destination, "purchasely of ios cannot be reached")
    refused.expect(.failure, .destination, "Connection refused")
  }

  @Test func `What receiptd reaches decides, not what this command reaches`() throws {
    let destination = try SandboxDestination()
    let harness = try harness(nil)
    try harness.configure {
      $0.replacing(
        "purchasely: {", with: "purchasely: { url: 'http://127.0.0.1:\(destination.port)/receipts',")
    }
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    let now = harness.clock.now
    func page(_ outcome: String, isAnswered: Bool, ago: Duration = .minutes(2)) throws -> DoctorPage {
      var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
      report.destinations[AppDestination("ios", "purchasely")] = DestinationContact(
        at: now - ago, isAnswered: isAnswered, outcome: outcome, route: "192.0.2.1")
      try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
      return try DoctorPage(harness, "--only", "destination")
    }
    let proxied = try page("proxy_failed: the proxy p:1, asked for s2s: 403", isAnswered: false)
    proxied.expect(
      .failure, .destination, "receiptd did not reach purchasely of ios 2 min ago (proxy_failed: ")
    proxied.expect(.failure, .destination, "although this command does")
    destination.stop()
    let isolated = try page("200", isAnswered: true)
    isolated.expect(.ok, .destination, "purchasely of ios answered receiptd 2 min ago (200 from 192.0.2.1)")
    isolated.expect(.ok, .destination, "Connection refused")
    try page("200", isAnswered: true, ago: .hours(2)).expect(.failure, .destination, "cannot be reached")
  }

  @Test func `Association files are compared as the hosts serve them`() throws {
    let host = Host()
    let server = try Server(ServerConfiguration(address: "127.0.0.1"), handler: host)
    let harness = try harness(nil, origin: "http://127.0.0.1:\(server.port)")
    let files = try #require(try harness.run("links", "check", "--json").objects.first)
    func serve(_ name: String, _ body: JSONValue?) {
      let response = body.map { Response(status: 200, type: "application/json", body: $0.serialized()) }
      host.answers.withLock { $0["/.well-known/\(name)"] = response }
    }
    serve("apple-app-site-association", files["apple"]?["file"])
    serve("assetlinks.json", files["android"]?["file"])
    func page() throws -> DoctorPage { try DoctorPage(harness, "--only", "associations") }
    #expect(try page().findings.map(\.level) == [.ok, .ok])
    serve("assetlinks.json", ["other"])
    try page().expect(.failure, .associations, "differs from the configuration")
    server.stop(grace: .zero)
  }

  @Test func `The copies of Apple and Google are current, older, or not known`() throws {
    func result(_ status: Int?, _ body: JSONValue = .null) -> TransferResult {
      TransferResult(status: status, body: body.serialized(), requestWasSent: true, duration: .zero)
    }
    let apple = AppSiteAssociation(
      links: .init(apps: [], entries: [.init(appID: "ABCDE12345.a", paths: ["/buy/*"])]))
    #expect(AssociationCaches.isApple(result(200, apple.json), apple) == true)
    #expect(AssociationCaches.isApple(result(200, [:]), apple) == false)
    #expect(AssociationCaches.isApple(result(404), apple) == false)
    #expect(AssociationCaches.isApple(result(500), apple) == nil)
    #expect(AssociationCaches.isApple(result(nil), apple) == nil)
    let fingerprint = try CertificateFingerprint(String(repeating: "ab", count: 32))
    let android = AssetLinks([.init(package: try PackageName("a.b"), fingerprints: [fingerprint])])
    func statement(_ text: String) -> JSONValue {
      [
        "source": ["web": ["site": "https://pay.example.com."]],
        "relation": .string(AssetLinks.handlesAllURLs),
        "target": [
          "androidApp": ["packageName": "a.b", "certificate": ["sha256Fingerprint": .string(text)]]
        ],
      ]
    }
    let current: JSONValue = ["statements": [statement(fingerprint.text)], "maxAge": "599s"]
    #expect(AssociationCaches.isGoogle(result(200, current), android) == true)
    #expect(AssociationCaches.isGoogle(result(200, ["maxAge": "599s"]), android) == false)
    #expect(AssociationCaches.isGoogle(result(200, ["statements": [statement("00:11")]]), android) == false)
    #expect(AssociationCaches.isGoogle(result(400, [:]), android) == nil)
    #expect(
      AssociationCaches.appleURL(of: "pay.example.com")
        == "https://app-site-association.cdn-apple.com/a/v1/pay.example.com")
    #expect(
      AssociationCaches.googleURL(of: "https://pay.example.com").hasSuffix(
        "?source.web.site=https%3A%2F%2Fpay.example.com&relation=delegate_permission%2Fcommon.handle_all_urls"
      ))
  }
}
