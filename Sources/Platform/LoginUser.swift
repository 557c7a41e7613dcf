// Who started this process, for what is written down about changes. Any thread, though getpwuid(3) keeps its
// answer in one place: asked once, at the start of a command.

internal import Glibc

/// The person behind a process, as the operating system knows them.
public enum LoginUser {
  /// The user's name; behind sudo(8) also who called it, as `root (anna)`. One without a name is a number.
  public static func name(environment: Environment = .process) -> String {
    let identifier = geteuid()
    var name = "uid \(identifier)"
    if let entry = unsafe getpwuid(identifier),
      let text = unsafe String(validatingCString: entry.pointee.pw_name)
    {
      name = text
    }
    // sudo sets it; anybody else could, too, so it stands beside the name and never in its place.
    guard let caller = environment["SUDO_USER"], caller != name, caller.utf8.count <= 64,
      caller.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return name }
    return "\(name) (\(caller))"
  }
}
