import HTTPServer
import Platform
import TestSupport
import Testing

@Suite("TLS") struct ServerTLSTests {
  /// Serves over TLS with a new certificate.
  private func serve(
    _ application: TestApplication, _ change: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (Server, String) throws -> Void
  ) throws {
    let folder = try TestFolder()
    let identity = try makeIdentity(in: folder)
    let server = try application.serve { configuration in
      configuration.tls = identity
      change(&configuration)
    }
    defer { server.stop(grace: .seconds(1)) }
    try body(server, folder.path)
  }

  private func makeIdentity(in folder: TestFolder) throws -> ServerConfiguration.Identity {
    let made = try ShellRun([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-days", "2",
      "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
      "-keyout", folder.file("key.pem"), "-out", folder.file("certificate.pem"),
    ])
    try #require(made.code == 0, "\(made.output)")
    return .init(certificatePEM: folder.content("certificate.pem"), keyPEM: folder.content("key.pem"))
  }

  private func curl(_ server: Server, _ directory: String, _ more: String...) throws -> ShellRun {
    try ShellRun(
      ["curl", "--silent", "--max-time", "10", "--cacert", "\(directory)/certificate.pem"] + more
        + ["--write-out", " %{http_code}", "https://127.0.0.1:\(server.port)/a%2Fb"])
  }

  @Test func `Requests are answered over TLS, now and later`() throws {
    try serve(.echo()) { server, directory in
      let result = try curl(server, directory, "--data", "hello")
      #expect(result.code == 0)
      #expect(result.output == "POST /a%2Fb hello 200")
    }
    let threads = Monitor<[WorkerThread]>([])
    let later = TestApplication { request, responder in
      let thread = try? WorkerThread(name: "answer") { responder.respond(TestApplication.echo(request)) }
      threads.withLock { $0 += [thread].compactMap { $0 } }
    }
    try serve(later) { server, directory in
      let result = try curl(server, directory, "--data", "hello")
      #expect(result.output == "POST /a%2Fb hello 200")
    }
    threads.withLock { $0 }.forEach { $0.join() }
  }

  /// The head of the answer to another request on a connection.
  private func ask(_ connection: PipedProcess) -> [String] {
    connection.feed(Array("GET /a HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    var lines: [String] = []
    while let line = connection.line(), line != "\r" { lines.append(line) }
    return lines
  }

  @Test("Another certificate serves new connections, a kept one ends, and a bad one changes nothing")
  func nextIdentity() throws {
    let other = try TestFolder()
    let next = try makeIdentity(in: other)
    try serve(.echo()) { server, first in
      let kept = try PipedProcess(
        ["openssl", "s_client", "-quiet", "-connect", "127.0.0.1:\(server.port)"], showsErrors: false)
      #expect(!ask(kept).contains { $0.hasPrefix("Connection: close") })
      #expect(throws: ServerError.self) {
        try server.prepare(.init(certificatePEM: next.certificatePEM, keyPEM: "none"))
      }
      #expect(try curl(server, first).code == 0)
      server.use(try #require(try server.prepare(next)))
      #expect(try server.prepare(next) == nil, "it is in use already")
      #expect(try curl(server, other.path).code == 0)
      #expect(try curl(server, first).code == 60, "curl: the certificate is not known")
      #expect(ask(kept).contains { $0.hasPrefix("Connection: close") })
      #expect(kept.line() == nil)
    }
  }

  @Test func `TLS before 1.2 is refused`() throws {
    try serve(.echo()) { server, _ in
      for (version, isServed) in [("tls1", false), ("tls1_1", false), ("tls1_2", true), ("tls1_3", true)] {
        let result = try ShellRun([
          "openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-\(version)", "-cipher",
          "ALL:@SECLEVEL=0",
        ])
        #expect((result.code == 0) == isServed, "\(version): \(result.output)")
      }
    }
  }

  @Test func `A chunked body over the limit is refused over TLS`() throws {
    try serve(.echo(10)) { server, directory in
      let result = try curl(
        server, directory, "--header", "Transfer-Encoding: chunked", "--data", "0123456789a")
      #expect(result.output == "at most 10 413")
    }
  }

  @Test func `A slow handshake has a request's time`() throws {
    try serve(.echo(), { $0.requestTimeout = .milliseconds(300) }) { server, _ in
      let client = try TestClient(server)
      let begin = MonotonicInstant.now()
      // The head of a ClientHello record, and then its body, one byte at a time.
      try client.drip("\u{16}\u{3}\u{1}\u{2}", every: .milliseconds(50))
      #expect(!(try client.rest().contains("HTTP/")))
      #expect(MonotonicInstant.now().duration(since: begin) < .seconds(5))
    }
  }

  @Test func `A client that hangs up over TLS while its request waits is detected at once`() throws {
    let gone = Monitor(0)
    let held = Monitor<[Responder]>([])
    let application = TestApplication { _, responder in
      held.withLock { $0.append(responder) }
      responder.onHangUp { [weak responder] in
        responder?.respond(Response(status: 200))
        gone.update { $0 += 1 }
      }
    }
    try serve(application) { server, directory in
      // curl stops waiting after a second and closes.
      let result = try curl(server, directory, "--max-time", "1")
      #expect(result.code != 0)
      let isGone: Bool? = gone.wait(until: .now().advanced(by: .seconds(300))) { $0 == 1 ? true : nil }
      #expect(isGone == true)
    }
  }

  @Test func `An invalid certificate is reported with libmicrohttpd's message`() throws {
    let error = #expect(throws: ServerError.self) {
      try TestApplication.echo().serve { $0.tls = .init(certificatePEM: "no", keyPEM: "none") }
    }
    let text = try #require(error?.description)
    #expect(text.hasPrefix("libmicrohttpd: "))
    #expect(text.count > 20)
    #expect("\(ServerConfiguration.Identity(certificatePEM: "c", keyPEM: "hush"))".contains("hush") == false)
  }
}
