// Valid and invalid answers of servers.

import HTTPClient
import TestSupport
import Testing

@Suite("Answers", .serialized)
struct ClientAnswerTests {
  @Test func `Status, header fields and body arrive; names are found in any case`() throws {
    let result = try result(
      ofAnswer: "HTTP/1.1 422 Nope\r\nRETRY-after: \t 7 \r\nX-A: 1\r\nx-a: 2\r\nEmpty:\r\n"
        + "Content-Length: 4\r\n\r\nbody")
    #expect(result.status == 422)
    #expect(result.failure == nil)
    #expect(!result.bodyTruncated)
    #expect(result.body == Array("body".utf8))
    #expect(result.header("Retry-After") == "7")
    #expect(result.header("X-A") == "1")
    #expect(result.header("empty") == "")
    #expect(result.header("Other") == nil)
    #expect(result.requestWasSent)
    #expect((Duration.zero..<Duration.seconds(8)).contains(result.duration))
  }

  @Test func `CA10: Chunks are joined; interim answers and trailers are dropped`() throws {
    let result = try result(
      ofAnswer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n"
        + "1\r\no\r\n1\r\nk\r\n0\r\nX-Trailer: 1\r\n\r\n"
    )
    #expect(result.status == 200)
    #expect(result.failure == nil)
    #expect(result.body == Array("ok".utf8))
    #expect(result.headers.map(\.name) == ["Transfer-Encoding", "X-A"])
  }

  @Test func `A flood of interim answers ends as a malformed answer`() throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      while connection.send("HTTP/1.1 102 Processing\r\n\r\n") {}
    }) { try perform($0.request()) }
    #expect(result.status == nil)
    #expect(result.failure == .malformedAnswer)
    #expect(result.requestWasSent)
  }

  @Test func `A flood of fields in one interim answer ends as a malformed answer`() throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 103 Early Hints\r\n")
      while connection.send("Link: </a>\r\n") {}
    }) { try perform($0.request()) }
    #expect(result.status == nil)
    #expect(result.failure == .malformedAnswer)
  }

  @Test(arguments: [
    "hello\r\n\r\n", "ICY 200 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 99 X\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n", "HTTP/1.1 600 X\r\n\r\n", "HTTP/1.1 -20 X\r\n\r\n",
    "HTTP/1.1 \r\n\r\n",
    "HTTP/7.1 200 OK\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "\0\0\0\0\r\n\r\n", "HTTP/1.1 20\u{ff10} OK\r\n\r\n",
  ])
  func `Bytes that are not an HTTP answer are malformed`(answer: String) throws {
    let result = try result(ofAnswer: answer)
    #expect(result.status == nil)
    #expect(result.failure == .malformedAnswer)
    #expect(result.requestWasSent)
  }

  @Test func `A line without end is malformed`() throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      while connection.send(String(repeating: "x", count: 4_096)) {}
    }) { try perform($0.request()) }
    #expect(result.status == nil)
    #expect(result.failure == .malformedAnswer)
  }

  @Test(arguments: [102, 200])
  func `A header field without end is malformed, and the status before it counts`(status: Int) throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 \(status) X\r\nX-Long: ")
      while connection.send(String(repeating: "x", count: 4_096)) {}
    }) { try perform($0.request()) }
    #expect(result.status == (status == 200 ? 200 : nil))
    #expect(result.failure == .malformedAnswer)
  }

  @Test func `A redirect is an answer and is not followed`() throws {
    try withServer({ connection in
      _ = connection.readRequest()
      connection.answer()
    }) { other in
      let result = try result(
        ofAnswer: "HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:\(other.port)/\r\nContent-Length: 0\r\n\r\n")
      #expect(result.status == 307)
      #expect(result.failure == nil)
      #expect(other.accepted == 0)
    }
  }

  @Test func `Of an endless body the first 64 KiB are kept, and the status counts`() throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send(String(repeating: "x", count: 4_096)) {}
    }) { try perform($0.request()) }
    #expect(result.status == 200)
    #expect(result.bodyTruncated)
    #expect(result.failure == .answerTooLarge)
    #expect(result.body == [UInt8](repeating: UInt8(ascii: "x"), count: TransferLimits.bodyBytesMax))
  }

  @Test func `A body of exactly 64 KiB is whole`() throws {
    let body = String(repeating: "x", count: TransferLimits.bodyBytesMax)
    let result = try result(ofAnswer: "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(result.status == 200)
    #expect(!result.bodyTruncated)
    #expect(result.body.count == body.utf8.count)
  }

  @Test(arguments: [
    "Content-Length: 100\r\n\r\nabc", "Content-Length: 9223372036854775807\r\n\r\nabc",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nab", "Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n",
    "Content-Length: -1\r\n\r\nabc", "Content-Length: 3\r\n",
  ])
  func `With a truncated or badly framed body the status counts`(rest: String) throws {
    let result = try result(ofAnswer: "HTTP/1.1 201 Created\r\n\(rest)")
    #expect(result.status == 201)
    #expect(result.bodyTruncated)
  }

  @Test func `If a server hangs in the middle of its answer, the status counts`() throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab")
      connection.waitForClose()
    }) { try perform($0.request(timeout: .milliseconds(300))) }
    #expect(result.status == 200)
    #expect(result.failure == .timeout)
    #expect(result.body == Array("ab".utf8))
  }

  @Test func `A slow body ends at the timeout, and the status counts`() throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while !connection.closes(within: .milliseconds(5)), connection.send("x") {}
    }) { try perform($0.request(timeout: .milliseconds(300))) }
    #expect(result.status == 200)
    #expect(result.failure == .timeout)
    #expect(result.bodyTruncated)
    #expect((Duration.milliseconds(290)..<Duration.seconds(5)).contains(result.duration))
  }

  @Test func `Too many header fields or too long ones end the answer but not its status`() throws {
    let many = (0...TransferLimits.headersMax).map { "X-\($0): 1\r\n" }.joined()
    let manyResult = try result(ofAnswer: "HTTP/1.1 200 OK\r\n\(many)\r\n")
    #expect(manyResult.status == 200)
    #expect(manyResult.failure == .answerTooLarge)
    #expect(manyResult.headers.count == TransferLimits.headersMax)
    let long = String(repeating: "x", count: TransferLimits.headerBytesMax)
    let longResult = try result(ofAnswer: "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-Long: \(long)\r\n\r\n")
    #expect(longResult.status == 200)
    #expect(longResult.failure == .answerTooLarge)
    #expect(longResult.headers == [TransferHeader("X-A", "1")])
  }

  @Test func `A header line that is not a field, is folded or is not UTF-8 is dropped`() throws {
    let bytes = Array("HTTP/1.1 200 OK\r\nX-A: 1\r\n folded\r\nnonsense\r\nX-B: ".utf8) + [0xff, 0xfe]
    let result = try withServer({ connection in
      _ = connection.readRequest()
      connection.send(bytes + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
    }) { try perform($0.request()) }
    #expect(result.status == 200)
    #expect(result.header("X-A") == "1")
    #expect(result.header("X-B") == nil)
  }
}
