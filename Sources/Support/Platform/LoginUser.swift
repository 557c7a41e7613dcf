// The user who started this process, for the audit. getpwuid(3) uses a static buffer, so call it once, at the
// start of a command.

internal import Glibc

/// The user of a process, from the operating system.
public enum LoginUser {
  /// The user's name; under sudo(8) also the calling user, as `root (anna)`. A user without a name is shown
  /// by number.
  public static func name(environment: Environment = .process) -> String {
    let identifier = geteuid()
    var name = "uid \(identifier)"
    if let entry = unsafe getpwuid(identifier),
      let text = unsafe String(validatingCString: entry.pointee.pw_name)
    {
      name = text
    }
    // Any process can set SUDO_USER, so it is added to the name and never replaces it.
    guard let caller = environment["SUDO_USER"], caller != name, caller.utf8.count <= 64,
      caller.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return name }
    return "\(name) (\(caller))"
  }
}
