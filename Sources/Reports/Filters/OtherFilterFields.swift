// The conditions by which events, contexts, changes and jobs are filtered. Pure; called from any thread.

internal import Domain
public import Store

extension EventFilter: ListFilter {
  public static let fields: [FilterField<EventFilter>] =
    [
      .app { $0.app = $1 }, .processor { $0.processor = $1 },
      .id("type", "TYPE", "Type", "Only those of this type, such as checkout.session.completed") {
        $0.type = $1
      },
      .choice(EventOutcome.self, "outcome", "Outcome", "Only those with this outcome") { $0.outcome = $1 },
    ] + FilterField.times("received", since: { $0.since = $1 }, until: { $0.until = $1 })
}

extension ContextFilter: ListFilter {
  public static let fields: [FilterField<ContextFilter>] =
    [
      .app { $0.app = $1 },
      .id("user", "USER", "User", "Only those of this user", isPersonal: true) { $0.userID = UserID($1) },
    ] + FilterField.times("received", since: { $0.since = $1 }, until: { $0.until = $1 })
}

extension AuditFilter: ListFilter {
  public static let fields: [FilterField<AuditFilter>] =
    [
      .id("subject", "ID", "Receipt, event or job", "Only those of this receipt, event or job") {
        $0.subject = $1
      }
    ] + FilterField.times("made", since: { $0.since = $1 }, until: { $0.until = $1 })
}

extension JobFilter: ListFilter {
  public static let fields: [FilterField<JobFilter>] = [
    .choice(JobState.self, "state", "State", "Only those in this state") { $0.state = $1 }
  ]
}
