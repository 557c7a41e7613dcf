// Assembles an answer from the data of libcurl's callbacks, within limits. The pool's thread. Contains no C
// calls.

/// The state machine over status lines, header fields and body of one transfer.
///
/// A request may get several interim answers before the final one (RFC 9110 §15.2). Each begins with a status
/// line, and only the final one counts.
struct AnswerCollector {
  /// The limit for the body.
  var bytesMax = TransferLimits.bodyBytesMax
  private(set) var status: Int?
  private(set) var headers: [TransferHeader] = []
  private(set) var body: [UInt8] = []
  /// Why the collector refused the answer; nil while it accepts data.
  private(set) var refusal: TransferFailure?

  /// Whether the body has a coding, although none was acceptable: nobody here can read it.
  var isCoded: Bool {
    headers.contains {
      $0.name.lowercased() == "content-encoding"
        && !$0.value.split(separator: ",").allSatisfy { $0.lowercased().filter { $0 != " " } == "identity" }
    }
  }

  private enum Phase { case statusLine, interimHeaders, finalHeaders, trailers }
  private var phase = Phase.statusLine
  private var interimAnswers = 0
  private var headerBytes = 0

  /// Processes one complete line, with its end (CURLOPT_HEADERFUNCTION(3)).
  /// - Returns: whether the transfer should continue.
  mutating func collectHeaderLine(_ line: [UInt8]) -> Bool {
    headerBytes += line.count
    guard headerBytes <= TransferLimits.headerBytesMax else {
      return refuse(status == nil ? .malformedAnswer : .answerTooLarge)
    }
    let isBlank = line.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    switch phase {
    case .statusLine: return parseStatusLine(line)
    case .interimHeaders:
      if isBlank { phase = .statusLine }
      return true
    case .finalHeaders:
      if isBlank {
        phase = .trailers
        return true
      }
      return parseField(line)
    case .trailers: return true
    }
  }

  /// Stores a piece of the body, up to the limit.
  /// - Returns: whether the transfer should continue.
  mutating func collectBody(_ bytes: some Collection<UInt8>) -> Bool {
    // A body after only interim answers: an unrequested 101.
    guard status != nil else { return refuse(.malformedAnswer) }
    let room = max(0, bytesMax - body.count)
    body.append(contentsOf: bytes.prefix(room))
    return bytes.count <= room ? true : refuse(.answerTooLarge)
  }

  private mutating func refuse(_ failure: TransferFailure) -> Bool {
    refusal = failure
    return false
  }

  /// "HTTP/1.1 200 OK" (RFC 9112 §4) or "HTTP/2 200", as libcurl writes an HTTP/2 `:status`.
  private mutating func parseStatusLine(_ line: [UInt8]) -> Bool {
    let words = line.split(maxSplits: 2, whereSeparator: AnswerCollector.isSpace)
    guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[1].count == 3,
      words[1].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return refuse(.malformedAnswer) }
    let code = words[1].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    switch code {
    case 100...199:
      interimAnswers += 1
      phase = .interimHeaders
      return interimAnswers <= TransferLimits.interimAnswersMax ? true : refuse(.malformedAnswer)
    case 200...599:
      status = code
      phase = .finalHeaders
      return true
    // RFC 9110 §15 defines no such class of status.
    default: return refuse(.malformedAnswer)
    }
  }

  /// Stores one field. Ignores a line that is not a field, is folded (obsolete, RFC 9112 §5.2) or is not
  /// UTF-8.
  private mutating func parseField(_ line: [UInt8]) -> Bool {
    guard headers.count < TransferLimits.headersMax else { return refuse(.answerTooLarge) }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      let name = String(validating: line[..<colon], as: UTF8.self),
      let value = String(validating: AnswerCollector.trimmed(line[(colon + 1)...]), as: UTF8.self),
      !name.utf8.contains(where: { $0 <= UInt8(ascii: " ") })
    else { return true }
    headers.append(TransferHeader(name, value))
    return true
  }

  /// Strips the surrounding white space and the end of the line (RFC 9110 §5.5).
  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let first = bytes.firstIndex(where: { !isSpace($0) }),
      let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return bytes[first...last]
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a
  }
}
