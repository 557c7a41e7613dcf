// Asks servers, all at the same time. One thread.

internal import HTTPClient
internal import Service

/// One question to a server.
struct DoctorProbe {
  /// What an answer leads to.
  enum Outcome {
    case findings([Finding])
    /// Another question, such as for the next page of a list.
    case next(DoctorProbe)
  }

  static let timeout: Duration = .seconds(5)
  private static let connectionsMax = 16

  let request: TransferRequest
  /// Judges the answer; also a transfer that failed.
  let judge: (TransferResult) -> Outcome

  init(_ request: TransferRequest, judge: @escaping (TransferResult) -> Outcome) {
    self.request = request
    self.judge = judge
  }

  /// - Returns: the findings of each probe, in the same order.
  static func run(_ probes: [DoctorProbe]) throws(TransferFailure) -> [[Finding]] {
    guard !probes.isEmpty else { return [] }
    let pool = try TransferPool(connectionsMax: connectionsMax)
    var findings = [[Finding]](repeating: [], count: probes.count)
    var waiting = Array(probes.enumerated())
    var asked: [Int: DoctorProbe] = [:]
    func conclude(_ probe: DoctorProbe, _ index: Int, _ result: TransferResult) {
      switch probe.judge(result) {
      case .findings(let found): findings[index] = found
      case .next(let probe): waiting.append((index, probe))
      }
    }
    while !waiting.isEmpty || !asked.isEmpty {
      while asked.count < connectionsMax, let (index, probe) = waiting.popLast() {
        do throws(TransferFailure) {
          try pool.start(probe.request, tag: UInt64(index))
          asked[index] = probe
        } catch {
          let unsent = TransferResult(
            status: nil, failure: error, requestWasSent: false, duration: .zero)
          conclude(probe, index, unsent)
        }
      }
      // Each transfer has its own time-out.
      for done in pool.run(timeout: .seconds(1)) {
        let index = Int(done.tag)
        if let probe = asked.removeValue(forKey: index) { conclude(probe, index, done.result) }
      }
    }
    return findings
  }
}

extension TransferResult {
  /// `405 in 80 ms`
  var answerText: String {
    let milliseconds = duration / .milliseconds(1)
    return "\(status.map(String.init) ?? "no answer") in \(Int64(milliseconds)) ms"
  }
}

extension TransferRequest {
  /// The same with a shorter time-out.
  func within(_ timeout: Duration) -> TransferRequest {
    var request = self
    request.timeout = timeout
    return request
  }
}
