// A notice as an e-mail (RFC 5322) in the form that sendmail programs read: lines end with a line feed. Pure;
// called from any thread.

internal import Domain
internal import Platform
internal import Reports
internal import Service

/// Makes e-mails.
enum MailMessage {
  /// The most bytes of a message; a notice is far shorter. A pipe of Linux holds as many (pipe(7)), so the
  /// program need not read while it starts.
  static let bytesMax = 65_536
  /// The most characters of a line of quoted-printable, without its end (RFC 2045 §6.7).
  private static let lineMax = 76
  /// Of the text, which can triple.
  private static let textBytesMax = 16_384

  /// Header and body.
  static func bytes(_ notice: AlertNotice, from: String, to: [String], host: String) -> [UInt8] {
    let subject = notice.app.map { "\(notice.name) of \($0)" } ?? notice.name
    let domain = from.split(separator: "@").last ?? "localhost"
    let header = [
      "From: \(from)", "To: \(to.joined(separator: ",\n "))",
      "Subject: [\(notice.mark)] \(subject) on \(ascii(host))", "Date: \(date(notice.at))",
      "Message-ID: <\(notice.id)@\(domain)>",
      // No automatic answers (RFC 3834).
      "Auto-Submitted: auto-generated", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable",
    ]
    return Array("\(header.joined(separator: "\n"))\n\n\(quotedPrintable(text(notice, host: host)))".utf8)
  }

  private static func text(_ notice: AlertNotice, host: String) -> String {
    var paragraphs = [notice.summary.capitalizedFirst.ended]
    if notice.state == .firing { paragraphs.append(notice.whatToDo) }
    paragraphs += notice.commands.map { "  \($0)" }
    let facts = [
      ("Alert", notice.alert), ("State", notice.state.rawValue), ("App", notice.app?.text ?? "all"),
      ("Since", notice.since.rfc3339), ("Host", host),
    ]
    paragraphs.append(facts.map { "\($0): \($1)" }.joined(separator: "\n"))
    return paragraphs.joined(separator: "\n\n") + "\n"
  }

  /// Such as `Fri, 20 Nov 2026 10:00:00 +0000` (RFC 5322 §3.3).
  static func date(_ time: Timestamp) -> String {
    let text = time.rfc3339
    let days = Int((Double(time.unixMilliseconds) / 86_400_000).rounded(.down))
    // 1970-01-01 was a Thursday.
    let day = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][((days % 7) + 7) % 7]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split(whereSeparator: { "-T.".contains($0) })
    let month = months[(Int(parts[1]) ?? 1) - 1]
    return "\(day), \(parts[2]) \(month) \(parts[0]) \(parts[3]) +0000"
  }

  /// The text in printable ASCII, in lines of at most 76 characters (RFC 2045 §6.7).
  static func quotedPrintable(_ text: String) -> String {
    var lines: [String] = []
    for line in text.utf8.prefix(textBytesMax).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    {
      var current = ""
      for (index, byte) in line.enumerated() {
        // A space at the end of a line would be lost in transit. A dot or "From " at the beginning has a
        // meaning for some mailers.
        let isLast = index == line.count - 1
        let isPlain =
          (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=") || byte == 0x20 && !isLast
        let isFirst = current.isEmpty && (byte == UInt8(ascii: ".") || byte == UInt8(ascii: "F"))
        let piece = isPlain && !isFirst ? String(UnicodeScalar(byte)) : escape(byte)
        // One place is for the "=" of a soft line break.
        if current.utf8.count + piece.utf8.count > lineMax - 1 {
          lines.append("\(current)=")
          current = ""
        }
        current += piece
      }
      lines.append(current)
    }
    return lines.joined(separator: "\n")
  }

  private static func escape(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.utf8.count == 1 ? "=0\(digits)" : "=\(digits)"
  }

  private static func ascii(_ text: String) -> String {
    String(text.map { $0.isASCII && $0 > " " && $0 != "\u{7F}" ? $0 : "?" })
  }
}
