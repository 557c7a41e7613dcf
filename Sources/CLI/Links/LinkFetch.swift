// Fetches the files that the hosts really serve, as Apple's and Google's servers do: over https, without
// following a redirect. Blocks; one thread.

internal import Config
internal import Formats
internal import HTTPClient
internal import Service
internal import Terminal

/// Compares what hosts serve with the configuration.
struct LinkFetch {
  private let session: Session
  private let pool: TransferPool

  init(_ session: Session) throws {
    self.session = session
    do throws(TransferFailure) {
      pool = try TransferPool(connectionsMax: 1)
    } catch {
      throw OperatorFault(.unavailable, "libcurl could not be set up (\(error.rawValue))")
    }
  }

  /// - Returns: `unavailable` when a host did not answer, `failed` when one serves files that devices reject.
  func run(_ hosts: [AssociationFiles]) throws -> ExitCode {
    var code = ExitCode.done
    for files in hosts {
      for (url, expected) in Self.expected(of: files) {
        session.noteWork("Asking \(DisplayText.clean(files.host)) …")
        let (faults, isAnswered) = Self.check(fetch(url), expected)
        if !isAnswered { code = .unavailable } else if !faults.isEmpty, code == .done { code = .failed }
        if session.isJSON {
          session.output.json([
            "url": .string(url), "ok": .bool(faults.isEmpty), "faults": .array(faults.map(JSONValue.string)),
          ])
        } else {
          let words = faults.isEmpty ? "ok, as configured" : faults.joined(separator: "; ")
          session.output.line("\(DisplayText.clean(url)): \(DisplayText.clean(words))")
        }
      }
    }
    return code
  }

  /// The URLs of a host's files, and what the configuration puts there.
  static func expected(of files: AssociationFiles) -> [(url: String, content: JSONValue)] {
    let folder = files.origin.text + "/.well-known/"
    return [
      (folder + "apple-app-site-association", files.apple.json),
      (folder + "assetlinks.json", files.android.json),
    ]
  }

  private func fetch(_ url: String) -> TransferResult {
    let request = TransferRequest(
      method: .get, url: url, headers: [TransferHeader("User-Agent", "receiptctl/\(Version.number)")],
      answerBytesMax: AppSiteAssociation.byteCountMax)
    do throws(TransferFailure) {
      try pool.start(request, tag: 0)
    } catch {
      return TransferResult(status: nil, failure: error, requestWasSent: false, duration: .zero)
    }
    // The transfer has its own time-out.
    while true {
      if let done = pool.run(timeout: .seconds(1)).first { return done.result }
    }
  }

  /// Reports what devices would reject, and differences from the configuration.
  static func check(
    _ result: TransferResult, _ expected: JSONValue
  ) -> (faults: [String], isAnswered: Bool) {
    guard let status = result.status else {
      return (["does not answer (\(result.failureText ?? "")): devices need it over https"], false)
    }
    var faults: [String] = []
    if (300...399).contains(status) {
      let target = result.header("Location").map { " to \(DisplayText.clean($0))" } ?? ""
      faults.append("answers with a redirect (\(status)\(target)), which devices do not follow")
    } else if status != 200 {
      faults.append("answers with status \(status) instead of 200")
    } else {
      if result.failure == .answerTooLarge {
        faults.append("is larger than \(AppSiteAssociation.byteCountMax) bytes, which devices do not accept")
      } else if !says(result.body, expected) {
        faults.append("differs from the configuration: run receiptctl reload, or check which proxy answers")
      }
      let type = result.header("Content-Type")?.lowercased().prefix { $0 != ";" } ?? ""
      if type != "application/json" { faults.append("is not sent as application/json") }
    }
    return (faults, true)
  }

  /// Whether two files are equal, ignoring the order of members.
  private static func says(_ bytes: [UInt8], _ expected: JSONValue) -> Bool {
    // Invalid JSON is different.
    guard let file = try? JSONValue(parsing: bytes) else { return false }
    return file == (try? JSONValue(parsing: expected.serialized()))
  }
}
