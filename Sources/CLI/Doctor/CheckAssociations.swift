// `receiptctl doctor`: the association files, as devices get them, and as Apple and Google keep them. One
// thread.

internal import Config
internal import HTTPClient
internal import Service
internal import Terminal

enum AssociationsCheck: DoctorCheck {
  static let subject = Finding.Check.associations
  private static let check = "receiptctl links check --fetch"

  static func probes(_ scene: DoctorScene) -> [DoctorProbe] {
    AssociationFiles.all(of: scene.configuration.apps).filter { files in
      files.slugs.contains { slug in scene.apps.contains { $0.slug == slug } }
    }.flatMap(AssociationProbe.all(of:)).map { probe in
      DoctorProbe(probe.request(userAgent: DoctorScene.userAgent, timeout: DoctorProbe.timeout)) { result in
        let verdict = probe.judge(result)
        return .findings([
          probe.company.map { copy(verdict, $0, probe) } ?? direct(verdict, probe.url)
        ])
      }
    }
  }

  private static func direct(_ verdict: AssociationProbe.Verdict, _ url: String) -> Finding {
    let faults = verdict.faults
    return faults.isEmpty
      ? ok("\(url) as configured") : failure("\(url) \(faults.joined(separator: "; "))", next: check)
  }

  /// What an app gets when it is installed comes from these copies; they are refreshed within a day or so.
  private static func copy(
    _ verdict: AssociationProbe.Verdict, _ company: String, _ probe: AssociationProbe
  ) -> Finding {
    let host = probe.files.host
    switch verdict {
    case .current: return ok("\(company) has the file of \(host) as configured")
    case .faulty:
      return warning(
        "\(company) has another file of \(host); new installations use that one for up to a day",
        next: "If it stays so, see whether \(company) can fetch it: \(check)")
    case .unanswered(let cause):
      return warning(
        "\(company)'s copy of the file of \(host) is not known (\(cause))",
        next: "See whether this machine reaches it: curl -sv \(ShellWord.quoted(probe.url))")
    }
  }
}
