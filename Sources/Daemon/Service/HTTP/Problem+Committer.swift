// The problems that clients get when the committer refuses a request. Pure; called from any thread.

extension Committer.Refusal {
  public var problem: Problem {
    switch self {
    case .busy: .busy
    case .diskFull: .diskFull
    case .stopping: .stopping
    case .unavailable: .databaseUnavailable
    }
  }
}
