// How the simulated payment services fail. Pure; any thread.

/// A way to fail. The raw value is its name on the command line.
public enum SandboxFault: String, Sendable, Equatable, CaseIterable {
  /// An error status, without any effect.
  case error
  /// The request takes effect; then an error status.
  case errorAfter = "error-after"
  /// The request takes effect; then the connection is closed without an answer.
  case cut
  /// The request takes effect, and there is no answer until the client gives up.
  case silent
  /// There is no effect, and no answer until the client gives up.
  case lost
  /// The request takes effect; the connection is closed in the middle of the answer's body.
  case truncated
  /// The request takes effect; the answer is complete, but its JSON is not.
  case malformed
  /// 302 to another host, without any effect.
  case redirect
  /// A web page with status 200, without any effect.
  case page
  /// The request takes effect; the answer names another payment.
  case lie

  /// Whether the request takes effect.
  public var takesEffect: Bool {
    switch self {
    case .error, .lost, .redirect, .page: false
    case .errorAfter, .cut, .silent, .truncated, .malformed, .lie: true
    }
  }
}

/// Which requests to a simulated payment service fail, and how.
public struct SandboxFaults: Sendable, Equatable {
  /// Nil: none fails.
  public var fault: SandboxFault?
  /// The status of `error` and `errorAfter`, 300…599.
  public var status: Int
  /// The share of requests that fail, 0…1.
  public var rate: Double
  /// How many more requests fail; nil sets no limit. Counted down.
  public var remaining: Int?
  /// The operations that fail or are delayed (`SandboxSwedbankOperation`, `SandboxAfterpayOperation`); empty
  /// means all.
  public var operations: Set<String>
  /// The delay of every answer to these operations. The request takes effect before it.
  public var delay: Duration

  public init(
    _ fault: SandboxFault? = nil, status: Int = 500, rate: Double = 1, remaining: Int? = nil,
    operations: Set<String> = [], delay: Duration = .zero
  ) {
    self.fault = fault
    self.status = status
    self.rate = rate
    self.remaining = remaining
    self.operations = operations
    self.delay = delay
  }

  /// Whether they concern an operation.
  func concern(_ operation: String) -> Bool { operations.isEmpty || operations.contains(operation) }

  /// Decides whether a request fails.
  /// - Parameter random: the same seed fails the same requests, counted in order of arrival.
  mutating func draw(
    _ operation: String, random: inout some RandomNumberGenerator
  ) -> SandboxFault? {
    guard let fault, concern(operation), remaining != 0 else { return nil }
    guard rate >= 1 || Double.random(in: 0..<1, using: &random) < rate else { return nil }
    if let left = remaining { remaining = max(left, 1) - 1 }
    return fault
  }
}
