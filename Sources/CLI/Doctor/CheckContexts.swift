// `receiptctl doctor`: whether the apps' contexts are accepted. One thread.

internal import Service

/// Whether the contexts of the apps are accepted.
enum ContextsCheck: DoctorCheck {
  static let subject = Finding.Check.contexts

  static func findings(_ scene: DoctorScene) -> [Finding] {
    scene.health?.report == nil ? [] : [ok("none was refused in the last hour")]
  }
}
