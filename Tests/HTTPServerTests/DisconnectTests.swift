import HTTPServer
import Platform
import Testing

@Suite("Connections that the application closes instead of answering") struct DisconnectTests {
  private static let request = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"

  @Test(arguments: [true, false])
  func `The client reads the end of the connection, and the server goes on`(_ isLater: Bool) throws {
    let application = TestApplication { request, responder in
      if request.head.path == "/b" { return responder.respond(Response(status: 200, text: "b")) }
      guard isLater else { return responder.disconnect() }
      let thread = try? WorkerThread(name: "disconnect") { responder.disconnect() }
      thread?.join()
    }
    let server = try application.serve()
    for _ in 1...20 {
      let client = try TestClient(server)
      try client.send(Self.request)
      #expect(try client.rest() == "")
    }
    let client = try TestClient(server)
    try client.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response().body == "b")
  }

  @Test func `A suspended request is ended, and what follows on its connection is not served`() throws {
    let application = TestApplication()
    let server = try application.serve()
    for _ in 1...20 {
      let client = try TestClient(server)
      try client.send(Self.request)
      let responder = try application.nextResponder()
      // Suspends, or is about to.
      try client.send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
      responder.disconnect()
      #expect(try client.rest() == "")
      responder.respond(Response(status: 200, text: "too late"))
    }
    #expect(application.seen.withLock { $0.heads.allSatisfy { $0.path == "/a" } })
    server.stop(grace: .seconds(1))
    #expect(application.rejections == [])
  }

  @Test func `A part of the answer arrives before the end`() throws {
    let server = try TestApplication { _, responder in
      responder.disconnect(sending: Response(status: 201, text: "0123456789"), missingBytes: 4)
    }.serve()
    let client = try TestClient(server)
    try client.send(Self.request)
    let text = try client.rest()
    #expect(text.hasPrefix("HTTP/1.1 201 "))
    #expect(text.contains("Content-Length: 10\r\n"))
    #expect(text.hasSuffix("\r\n\r\n012345"))
  }
}
