// What a client is told when the store's queue refuses its request. Pure; any thread.

public import Persistence

extension Committer.Refusal {
  public var problem: Problem {
    switch self {
    case .busy: .busy
    case .diskFull: .diskFull
    case .stopping: .stopping
    }
  }
}
