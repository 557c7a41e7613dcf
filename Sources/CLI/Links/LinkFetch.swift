// Fetches the files that the hosts really serve, as Apple's and Google's servers do: over https, without
// following a redirect. Blocks; one thread.

internal import Config
internal import Formats
internal import HTTPClient
internal import Service
internal import Terminal

/// Compares what hosts serve with the configuration.
struct LinkFetch {
  private static let timeout: Duration = .seconds(10)

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
      for probe in AssociationProbe.all(of: files) where probe.company == nil {
        session.noteWork("Asking \(DisplayText.clean(files.host)) …")
        let (url, verdict) = (probe.url, probe.judge(fetch(probe)))
        let faults = verdict.faults
        switch verdict {
        case .current: break
        case .faulty: if code == .done { code = .failed }
        case .unanswered: code = .unavailable
        }
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

  private func fetch(_ probe: AssociationProbe) -> TransferResult {
    let request = probe.request(
      userAgent: "receiptctl/\(Version.number)", timeout: Self.timeout)
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
}
