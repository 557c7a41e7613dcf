// TLS on both sides: the certificate of the public listener, and the certificates that the relay trusts.

import Domain
import Formats
import HTTPClient
import HTTPServer
import TestSupport
import Testing

/// A self-signed certificate for 127.0.0.1.
struct SelfSigned {
  let certificate: String
  let key: String

  /// - Parameters:
  ///   - names: other host names in the certificate.
  ///   - days: how long it is valid.
  init(in directory: TestFolder, names: [String] = [], days: Int = 2) throws {
    (certificate, key) = (directory.file("certificate.pem"), directory.file("key.pem"))
    let hosts = (["IP:127.0.0.1"] + names.map { "DNS:\($0)" }).joined(separator: ",")
    let words = [
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-days", "\(days)", "-subj", "/CN=localhost", "-addext", "subjectAltName=\(hosts)", "-keyout", key,
      "-out",
      certificate,
    ]
    let output = directory.file("openssl.log")
    let code = try ChildProcess(words, output: output).end()
    try #require(code == 0, "\(TextFile.read(output))")
  }

  var identity: ServerConfiguration.Identity {
    .init(certificatePEM: TextFile.read(certificate), keyPEM: TextFile.read(key))
  }

  static var isPossible: Bool {
    // Without openssl these tests are skipped.
    let process = try? ChildProcess(["openssl", "version"], output: "/dev/null")
    return (try? process?.end()) == 0
  }
}

@Suite(.withDaemonLog, .enabled(if: SelfSigned.isPossible, "the openssl command makes the certificate"))
struct DaemonTLSTests {
  @Test func `The public listener accepts contexts and events over TLS, and nothing in plain text`() throws {
    let directory = try TestFolder()
    let made = try SelfSigned(in: directory)
    let tls: JSONValue = ["certificate": .string(made.certificate), "key": .string(made.key)]
    try withRelay(top: ["listen": ["tls": tls]]) { relay, destination in
      let pool = try TransferPool(connectionsMax: 1)
      func post(_ path: String, _ body: [UInt8], _ headers: [TransferHeader]) throws -> Int? {
        let url = "https://127.0.0.1:\(relay.outside.api.port)\(path)"
        let request = TransferRequest(
          method: .post, url: url, headers: headers, body: body, certificateAuthorityFile: made.certificate)
        try pool.start(request, tag: 0)
        return try waitFor("an answer over TLS") { pool.run(timeout: .seconds(1)).first }.result.status
      }
      let checkout = Checkout("encrypted")
      let json = TransferHeader("Content-Type", "application/json")
      let blob: JSONValue = ["ply_context": .string(checkout.context)]
      let key = TransferHeader("X-API-KEY", Secrets.clientKey)
      #expect(try post("/v1/shop/users/\(checkout.user)/contexts", blob.serialized(), [json, key]) == 201)
      let body = checkout.completed.serialized()
      let signature = TransferHeader(
        "Stripe-Signature", try Stripe.signature(of: body, secret: Secrets.webhook))
      #expect(try post(Stripe.eventsPath, body, [json, signature]) == 200)
      #expect(try post(Stripe.eventsPath, [UInt8](repeating: 0x20, count: 100_000), [json]) == 400)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.map { $0["ply_context"] } == [checkout.context])
      #expect(throws: (any Error).self) { try relay.outside.send(checkout.completed) }
    }
  }

  @Test func `A reload uses the certificate that the file has now, and refuses one without its key`() throws {
    let directory = try TestFolder()
    let made = try SelfSigned(in: directory)
    let tls: JSONValue = ["certificate": .string(made.certificate), "key": .string(made.key)]
    try withRelay(top: ["listen": ["tls": tls]]) { relay, _ in
      func isTrusted() throws -> Bool {
        let port = relay.outside.api.port
        return try ShellRun([
          "curl", "--silent", "--cacert", made.certificate, "https://127.0.0.1:\(port)/",
        ]).code == 0
      }
      #expect(try isTrusted())
      let key = TextFile.read(made.key)
      _ = try SelfSigned(in: directory)
      #expect(try !isTrusted())
      let renewed = try relay.receiptctl("reload")
      #expect(renewed.code == 0, "\(renewed.output)")
      #expect(renewed.output.contains("Changed: listen.tls.certificate, listen.tls.key."))
      #expect(try isTrusted())
      try directory.write(key, to: "key.pem")
      let refused = try relay.receiptctl("reload")
      #expect(refused.code == 78, "\(refused.output)")
      #expect(refused.output.contains("listen.tls: "))
      #expect(try isTrusted())
    }
  }

  @Test func `A webhook with its own authority gets receipts`() throws {
    let directory = try TestFolder()
    let made = try SelfSigned(in: directory)
    let backend = try Destination(tls: made.identity)
    defer { backend.stop() }
    let webhook: JSONValue = [
      "url": .string(backend.url), "ca": .string(made.certificate),
      "secrets": [.string("whsec_" + Base64.encode(Array(repeating: 7, count: 32)))],
    ]
    try withRelay(app: ["stripe": ["deliver_to": "webhook"], "webhook": webhook]) { relay, _ in
      let checkout = Checkout("own")
      try relay.buy(checkout)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(backend.ledger.count == 1)
    }
  }

  @Test func `A listener's certificate that expires soon is an alert`() throws {
    let (directory, receiver) = (try TestFolder(), try Destination())
    defer { receiver.stop() }
    let made = try SelfSigned(in: directory)
    let top: JSONValue = [
      "listen": ["tls": ["certificate": .string(made.certificate), "key": .string(made.key)]],
      "alerts": [["to": .string(receiver.url), "on": ["certificate_expires<14d"], "every": "1s"]],
    ]
    try withRelay(top: top) { relay, _ in
      let notice = try waitFor("a notice") { receiver.ledger.first { $0["state"] == "firing" } }
      #expect(notice["what_to_do"]?.hasPrefix("Renew the certificate in the file of listen.tls") == true)
      let summary = "the certificate of the public listener expires in "
      #expect(["2d", "47h"].contains { notice["summary"] == summary + $0 })
      let metrics = try relay.admin.request("GET", "/metrics").text
      #expect(metrics.contains("receiptd_certificate_expires_timestamp_seconds{place=\"listener\"} "))
    }
  }

  @Test(
    "A destination with an invalid certificate gets nothing; the app pauses and gives nothing up (R4)")
  func untrustedDestination() throws {
    let directory = try TestFolder()
    let destination = try Destination(tls: try SelfSigned(in: directory).identity)
    defer { destination.stop() }
    try withRelay(to: destination) { relay in
      let checkout = Checkout("careful")
      try relay.buy(checkout)
      try waitUntil("two probes were made") { try relay.count("attempts") >= 2 }
      let breaker = try relay.breaker()
      #expect(breaker.state == .paused)
      #expect(breaker.cause?.text == "certificate_rejected")
      let receipt = try #require(try relay.receipt(of: checkout.subscription))
      #expect(receipt.state == .pending)
      #expect(receipt.attempts == 0)
      #expect(destination.ledger.isEmpty)
    }
  }
}
