// The table of hostile destinations, by theme. The behaviour is written out as bytes; the results are those
// of the contract (Delivery) and of ARCHITECTURE (a status line is an answer). Values.

import TestSupport

enum HostileDestinations {
  /// - Parameter trap: the port of a server to which no request may be redirected.
  static func all(trap: UInt16) -> [HostileDestination] {
    connections + brokenAnswers + framing + nonsense + statuses + retryAfter + redirects(to: trap) + slowness
      + encrypted
  }

  static func row(
    _ name: String, _ place: HostileDestination.Place, _ status: Int64?, _ errors: [String?],
    ambiguous: Bool? = false, _ outcome: HostileOutcome, slow: Bool = false
  ) -> HostileDestination {
    HostileDestination(
      name: name, place: place, attempt: .init(status: status, errors: errors, isAmbiguous: ambiguous),
      outcome: outcome, isSlow: slow)
  }

  /// Reads the request, sends this, and closes.
  static func answer(_ text: String) -> HostileDestination.Place {
    .scripted { connection in
      _ = connection.readRequest()
      connection.send(text)
    }
  }

  /// Reads the request, sends this, then the same piece until the client stops reading.
  static func endless(_ start: String, _ piece: String) -> HostileDestination.Place {
    let bytes = Array(String(repeating: piece, count: 65_536 / piece.utf8.count).utf8)
    return .scripted { connection in
      _ = connection.readRequest()
      connection.send(start)
      while connection.send(bytes) {}
    }
  }

  private static var connections: [HostileDestination] {
    let lost: [String?] = ["connection_lost"]
    return [
      row("refused", .refused, nil, ["connect_failed"], .rests(590...610)),
      row("black hole", .fullBacklog, nil, ["timeout"], .rests(590...610), slow: true),
      row("never accepted", .neverAccepted, nil, ["timeout"], ambiguous: true, .rests(590...610), slow: true),
      row("a name that is not there", .unresolved, nil, ["resolve_failed"], .rests(590...610)),
      row(
        "silence", .scripted { $0.waitForClose() }, nil, ["timeout"], ambiguous: true, .recovers, slow: true),
      row(
        "reset at once", .scripted { $0.reset() }, nil, ["connection_lost", "connect_failed"], ambiguous: nil,
        .recovers),
      row(
        "reset instead of an answer",
        .scripted { connection in
          _ = connection.readRequest()
          connection.reset()
        }, nil, lost, ambiguous: true, .recovers),
      row("closed instead of an answer", answer(""), nil, lost, ambiguous: true, .recovers),
      row("closed in the status line", answer("HTTP/1.1 20"), nil, lost, ambiguous: true, .recovers),
      row(
        "answered before the request was read",
        .scripted { connection in
          connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
          connection.waitForClose()
        }, 200, [nil, "connection_lost"], .delivered),
    ]
  }

  private static var brokenAnswers: [HostileDestination] {
    let ok = "HTTP/1.1 200 OK\r\n"
    let lost: [String?] = ["connection_lost"]
    func reset(_ text: String) -> HostileDestination.Place {
      .scripted { connection in
        _ = connection.readRequest()
        connection.send(text)
        connection.reset()
      }
    }
    return [
      row("reset in the header fields", reset(ok + "X-A:"), 200, lost, .delivered),
      row("reset in the body", reset(ok + "Content-Length: 100\r\n\r\n{"), 200, lost, .delivered),
      row("cut off in the body", answer(ok + "Content-Length: 100\r\n\r\n{"), 200, lost, .delivered),
      row(
        "503, cut off in the body", answer("HTTP/1.1 503 No\r\nContent-Length: 100\r\n\r\n{"), 503, lost,
        .recovers),
      row(
        "422, cut off in the body", answer("HTTP/1.1 422 No\r\nContent-Length: 100\r\n\r\n{"), 422, lost,
        .failed("http_422")),
      row("4 GB are announced", answer(ok + "Content-Length: 4294967296\r\n\r\n{"), 200, lost, .delivered),
      row("a body without end", endless(ok + "\r\n", "x"), 200, ["answer_too_large"], .delivered),
      row(
        "503 with a body without end", endless("HTTP/1.1 503 No\r\n\r\n", "x"), 503, ["answer_too_large"],
        .recovers),
      row(
        "chunks without end", endless(ok + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"), 200,
        ["answer_too_large"], .delivered),
      row("header fields without end", endless(ok, "X-A: 1\r\n"), 200, ["answer_too_large"], .delivered),
      row("a header field without end", endless(ok + "X-A: ", "x"), 200, ["malformed_answer"], .delivered),
      row(
        "503 with header fields without end", endless("HTTP/1.1 503 No\r\n", "X-A: 1\r\n"), 503,
        ["answer_too_large"], .recovers),
      row(
        "trailers without end", endless(ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X-A: 1\r\n"), 200,
        ["answer_too_large", "malformed_answer"], .delivered),
      row(
        "a gzip bomb",
        .scripted { connection in
          _ = connection.readRequest()
          connection.send(ok + "Content-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n")
          connection.send(GzipBomb.header)
          while connection.send(GzipBomb.piece) {}
        }, 200, ["answer_too_large"], .delivered),
      row(
        "a second answer behind the first",
        answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n"),
        200, [nil], .delivered),
    ]
  }

  private static var framing: [HostileDestination] {
    let ok = "HTTP/1.1 200 OK\r\n"
    let any: [String?] = [nil, "malformed_answer", "connection_lost"]
    func row(_ name: String, _ headers: String) -> HostileDestination {
      Self.row(name, answer(ok + headers + "\r\n{}"), 200, any, .delivered)
    }
    return [
      row("a negative length", "Content-Length: -1\r\n"),
      row("a length that is no number", "Content-Length: many\r\n"),
      row("two lengths that differ", "Content-Length: 1\r\nContent-Length: 2\r\n"),
      row("a length over 2^64", "Content-Length: 99999999999999999999\r\n"),
      row("a chunk size that is no number", "Transfer-Encoding: chunked\r\n\r\nzz"),
      row("a negative chunk size", "Transfer-Encoding: chunked\r\n\r\n-1"),
      row("a chunk size over 2^64", "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff"),
      row("an unknown transfer coding", "Transfer-Encoding: rot13\r\n"),
      Self.row(
        "an unknown content coding",
        answer(ok + "Content-Encoding: rot13\r\nContent-Length: 2\r\n\r\n{}"), 200, ["coded_answer"],
        .recovers),
    ]
  }

  private static var nonsense: [HostileDestination] {
    let lines = [
      "SSH-2.0-OpenSSH_9.2", "HTTP/1.1 abc OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 200OK",
      "HTTP/1.1", "HTTP/1.1 -200 OK", "HTTP/9.9 200 OK", "ICY 200 OK", "http/1.1 200 OK",
      "{\"id\":\"1\"}",
      "HTTP/1.1 000 OK", "HTTP/1.1 600 OK", "HTTP/1.1 999 OK", "\0\0\0\0", "\u{FF}\u{FE}",
    ]
    let words: [String?] = ["malformed_answer", "connection_lost"]
    return lines.map {
      row(
        "the status line \($0.debugDescription)", answer("\($0)\r\nContent-Length: 2\r\n\r\n{}"), nil, words,
        ambiguous: true, .recovers)
    } + [
      row("a status line without end", endless("", "x"), nil, words, ambiguous: true, .recovers),
      row("line ends without end", endless("", "\r\n"), nil, words, ambiguous: true, .recovers),
      row(
        "100 without end", endless("", "HTTP/1.1 100 Continue\r\n\r\n"), nil, words, ambiguous: true,
        .recovers),
      row(
        "103 without end", endless("", "HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n"), nil, words,
        ambiguous: true, .recovers),
      row(
        "one 103 without end", endless("HTTP/1.1 103 Early Hints\r\n", "Link: </>\r\n"), nil, words,
        ambiguous: true, .recovers),
      row(
        "101", answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\nx"), nil, words,
        ambiguous: true, .recovers),
    ]
  }
}
