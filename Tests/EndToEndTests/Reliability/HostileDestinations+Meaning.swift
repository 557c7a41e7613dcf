// Hostile destinations with well-formed answers: statuses, Retry-After, redirects; and those that are slow or
// impersonate another server. Values.

import TestSupport

extension HostileDestinations {
  private static func status(_ line: String, _ headers: String = "") -> HostileDestination.Place {
    .scripted { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 \(line)\r\n\(headers)Connection: close\r\nContent-Length: 0\r\n\r\n")
    }
  }

  static var statuses: [HostileDestination] {
    let rows: [(Int64, HostileOutcome)] =
      [200, 201, 202, 204, 205, 206, 226, 299].filter { $0 != 202 }.map { ($0, .delivered) }
      + [300, 304, 305, 399, 401, 402, 403, 407].map { ($0, .recovers) }
      + [408, 409, 425, 500, 501, 502, 503, 504, 599].map { ($0, .recovers) }
      + [400, 404, 410, 413, 422, 451, 499].map { ($0, .failed("http_\($0)")) }
    return rows.map { row("\($0.0)", status("\($0.0) Some"), $0.0, [nil], $0.1) } + [
      // The default pause of ten minutes after a 429.
      row("429", status("429 Slow"), 429, [nil], .rests(590...610)),
      row("HTTP/1.0", answer("HTTP/1.0 200 OK\r\n\r\n{}"), 200, [nil], .delivered),
      row(
        "a login page with a 200", answer("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<form>"), 200,
        ["html_answer"], .recovers),
      row(
        "errors with a 200", answer("HTTP/1.1 200 OK\r\n\r\n{\"errors\":[\"unknown api_key\"]}"), 200,
        ["error_answer"], .recovers),
      row("200 after two spaces", answer("HTTP/1.1  200 OK\r\n\r\n"), 200, [nil], .delivered),
      row("200 without a word", answer("HTTP/1.1 200\r\n\r\n"), 200, [nil], .delivered),
    ]
  }

  static var retryAfter: [HostileDestination] {
    let day: Int64 = 86_400
    func rest(_ value: String, _ seconds: ClosedRange<Int64>, _ line: String = "503 No") -> HostileDestination
    {
      row(
        "\(line.prefix(3)), Retry-After \(value.prefix(40))", status(line, "Retry-After: \(value)\r\n"),
        Int64(line.prefix(3)), [nil], .rests(seconds))
    }
    // The schedule's ten minutes apply when the value is invalid, is in the past, or is shorter.
    let schedule: ClosedRange<Int64> = 590...610
    let most = (day - 10)...(day + 10)
    return [
      rest("99999999999999999999", most), rest("1000000", most),
      rest(String(repeating: "9", count: 5000), most),
      rest("Fri, 31 Dec 9999 23:59:59 GMT", most), rest("Thu, 01 Jan 1970 00:00:00 GMT", schedule),
      rest("Sat, 30 Feb 2100 00:00:00 GMT", most), rest("-5", schedule), rest("1e9", schedule),
      rest("0x10", schedule), rest("soon", schedule), rest("3000 s", schedule), rest("0", schedule),
      rest("3000", 2990...3010), rest("99999999999999999999", most, "429 Slow"),
      rest("3000", 2990...3010, "429 Slow"),
    ]
  }

  /// No redirect is followed: its author would get the key, and could reach services of this machine.
  static func redirects(to trap: UInt16) -> [HostileDestination] {
    let targets = [
      "http://127.0.0.1:\(trap)/receipts", "http://localhost:\(trap)/", "//127.0.0.1:\(trap)/",
      "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "gopher://127.0.0.1:\(trap)/_GET",
    ]
    return targets.enumerated().map { index, target in
      let code = [301, 302, 303, 307, 308][index % 5]
      return row(
        "\(code) to \(target)", status("\(code) Elsewhere", "Location: \(target)\r\n"), Int64(code), [nil],
        .recovers)
    } + [
      row(
        "200 with a Location",
        status(
          "200 OK", "Location: http://127.0.0.1:\(trap)/\r\nRefresh: 0;url=http://127.0.0.1:\(trap)/\r\n"),
        200, [nil], .delivered)
    ]
  }

  static var slowness: [HostileDestination] {
    /// A byte, a pause, a byte.
    func drip(_ start: String, _ text: String) -> HostileDestination.Place {
      .scripted { connection in
        _ = connection.readRequest()
        connection.send(start)
        for byte in text.utf8 {
          guard !connection.closes(within: .milliseconds(200)), connection.send([byte]) else { return }
        }
        connection.waitForClose()
      }
    }
    func pause(_ start: String) -> HostileDestination.Place {
      .scripted { connection in
        _ = connection.readRequest()
        connection.send(start)
        connection.waitForClose()
      }
    }
    let ok = "HTTP/1.1 200 OK\r\n"
    return [
      row("a status line that drips", drip("", ok), nil, ["timeout"], ambiguous: true, .recovers, slow: true),
      row(
        "header fields that drip", drip(ok, "X-A: 1\r\nX-B: 2\r\n\r\n"), 200, ["timeout"], .delivered,
        slow: true),
      row(
        "a body that drips", drip(ok + "Content-Length: 50\r\n\r\n", String(repeating: "x", count: 50)), 200,
        ["timeout"], .delivered, slow: true),
      row(
        "4 GB are announced, and silence", pause(ok + "Content-Length: 4294967296\r\n\r\n"), 200, ["timeout"],
        .delivered, slow: true),
      row(
        "503 and silence", pause("HTTP/1.1 503 No\r\nContent-Length: 1\r\n\r\n"), 503, ["timeout"], .recovers,
        slow: true),
      row(
        "100 and silence", pause("HTTP/1.1 100 Continue\r\n\r\n"), nil, ["timeout"], ambiguous: true,
        .recovers, slow: true),
    ]
  }

  static var encrypted: [HostileDestination] {
    let rest: ClosedRange<Int64> = 590...610
    return [
      row(
        "a certificate that nobody known has signed", .selfSigned, nil, ["certificate_rejected"], .rests(rest)
      ),
      row(
        "a TLS handshake that stalls", .scriptedTLS { $0.waitForClose() }, nil, ["timeout"], .rests(rest),
        slow: true),
      row(
        "plain text instead of TLS",
        .scriptedTLS { connection in
          connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
          connection.waitForClose()
        }, nil, ["tls_failed"], .rests(rest)),
      row(
        "a TLS alert",
        .scriptedTLS { connection in
          // handshake_failure, fatal (RFC 8446 §6).
          connection.send([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28])
          connection.waitForClose()
        }, nil, ["tls_failed"], .rests(rest)),
      row(
        "a TLS record without end",
        .scriptedTLS { connection in
          connection.send([0x16, 0x03, 0x03, 0xFF, 0xFF])
          while connection.send([UInt8](repeating: 0, count: 65_536)) {}
        }, nil, ["tls_failed"], .rests(rest)),
      row(
        "a reset in the handshake", .scriptedTLS { $0.reset() }, nil, ["tls_failed", "connect_failed"],
        .rests(rest)),
    ]
  }
}

/// An endless gzip stream (RFC 1952) in which 13 bytes expand to 2064: the byte 0, then again and again
/// "repeat the byte before 258 times" in the fixed code of RFC 1951 §3.2.6.
enum GzipBomb {
  static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]

  /// A block that begins and ends at a byte boundary, so that it can be repeated.
  static let piece: [UInt8] = {
    var (bytes, bits, count): ([UInt8], UInt32, UInt32) = ([], 0, 0)
    func put(_ value: UInt32, _ width: UInt32) {
      bits |= value << count
      count += width
      while count >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        count -= 8
      }
    }
    /// Huffman codes are written with their highest bit first.
    func code(_ value: UInt32, _ width: UInt32) {
      for bit in 0..<width { put(value >> (width - 1 - bit) & 1, 1) }
    }
    put(0, 1)  // not the last block
    put(1, 2)  // fixed codes
    code(0x30, 8)  // the literal 0
    for _ in 0..<5000 {
      code(0xC5, 8)  // the length 258
      code(0, 5)  // the distance 1
    }
    code(0, 7)  // the end of the block
    // An empty stored block ends at a byte boundary (RFC 1951 §3.2.4).
    put(0, 3)
    put(0, (8 - count) & 7)
    return bytes + [0, 0, 0xFF, 0xFF]
  }()
}
