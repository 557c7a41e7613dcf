// Changes of jobs: pause, resume, rate and cancel.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
internal import Service
internal import Store

/// What an operator can do with a job.
enum JobChange: String, Sendable, CaseIterable {
  case pause, resume, rate, cancel

  func isPossible(in state: JobState) -> Bool {
    switch (self, state) {
    case (.pause, .running), (.resume, .paused): true
    case (.rate, .preparing), (.rate, .running), (.rate, .paused): true
    case (.cancel, .preparing), (.cancel, .running), (.cancel, .paused): true
    default: false
    }
  }

  var label: String {
    switch self {
    case .pause: "Pause…"
    case .resume: "Resume…"
    case .rate: "Change the rate…"
    case .cancel: "Cancel job…"
    }
  }

  /// What has happened.
  var outcome: String {
    switch self {
    case .pause: "It is paused."
    case .resume: "It continues."
    case .rate: "Its rate was changed."
    case .cancel: "It was cancelled."
    }
  }

  func purpose(_ job: JobID) -> String { "jobs \(rawValue) \(job)" }
}

extension Dashboard {
  private func formChange(_ id: JobID, _ change: JobChange) -> FormChange {
    FormChange(
      purpose: change.purpose(id), action: "jobs \(change.rawValue)", subject: id.text, place: .jobs,
      target: Link("jobs", id.text, change.rawValue), back: Link("jobs", id.text))
  }

  /// - Parameter typed: the rate that the submitted form had.
  func confirmation(
    job id: JobID, _ change: JobChange, rate typed: String? = nil, complaint: String? = nil
  ) throws(Refusal) -> ConfirmationPage {
    let job = try read { source throws(StoreFault) in try pacedJob(id, source.reader) }
    guard let job else { throw .problem(.unknownJob) }
    var page = question(
      formChange(id, change), title: "",
      text: ["\(JobDescription.asked(job)): \(JobDescription.outcomes(job))."], button: "",
      needsReason: change == .cancel, complaint: complaint)
    switch change {
    case .pause:
      (page.title, page.button) = ("Pause this job?", "Pause")
      page.text.append("No further receipt is released; those released are still delivered.")
    case .resume:
      (page.title, page.button) = ("Resume this job?", "Resume")
      page.text.append("It continues at its rate: \(JobDescription.pace(job)).")
    case .rate:
      (page.title, page.button) = ("Change the rate of this job?", "Change")
      page.fields = [
        .rate(typed ?? job.request.ratePerSecond.map { "\($0)" } ?? ConfirmationPage.rateDefault)
      ]
    case .cancel:
      (page.title, page.button) = ("Cancel this job?", "Cancel job")
      page.isDestructive = true
      page.text.append(
        "Receipts that it has not released stay unchanged. A cancelled job cannot be resumed.")
    }
    return page
  }

  func change(
    job id: JobID, _ change: JobChange, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    let asked = formChange(id, change)
    try check(form, for: asked.purpose)
    let again = { (complaint: String) throws(Refusal) in
      let page = try confirmation(job: id, change, rate: form["rate"], complaint: complaint)
      answer(.question(page), exchange)
    }
    var details: JSONValue = [:]
    let command: ChangeJob.Change
    switch change {
    case .pause: command = .pause
    case .resume: command = .resume
    case .cancel:
      guard form.why != nil else { return try again(AdminForm.whyComplaint) }
      command = .cancel
    case .rate:
      guard let rate = form["rate"].flatMap(Double.init), JobRequest.rates.contains(rate) else {
        return try again(ConfirmationPage.rateComplaint)
      }
      command = .rate(rate)
      details = ["rate": .number(rate)]
    }
    let entry = entry(asked, form, visitor, details)
    let audited = Audited(ChangeJob(id: id, command)) { outcome in
      if case .done(_, isChanged: true) = outcome { entry } else { nil }
    }
    apply(audited, app: nil, exchange) { outcome in
      switch outcome {
      case .done: .success(Link("jobs", id.text, query: [("done", change.rawValue)]))
      case .notFound: .failure(.unknownJob)
      case .notAllowed(let state): .failure(.notAllowed(state))
      }
    }
  }
}

extension Problem {
  /// The state of a job does not allow the change.
  static func notAllowed(_ state: JobState) -> Problem {
    Problem(
      slug: "refused", title: "Nothing was changed", status: 409,
      detail: "That cannot be done while the job is \(state.rawValue).")
  }
}
