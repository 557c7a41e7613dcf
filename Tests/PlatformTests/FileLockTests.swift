// A lock that tells who holds it. POSIX locks are between processes, so another one is needed.

import Glibc
import Platform
import Testing

@Suite("A file lock") struct FileLockTests {
  /// Locks the file, says so, and holds it until its input ends.
  private static let script = """
    import fcntl, sys
    file = open(sys.argv[1], "a+")
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("locked", flush=True)
    sys.stdin.read()
    """

  static let hasPython = ChildProcess.canRun(["python3", "-c", "print('yes')"])

  @Test("Nobody holds what is not there, and nobody what nobody locked")
  func nobody() throws {
    let folder = try TestFolder()
    #expect(FileLock.holder(path: folder.path + "/lock") == nil)
    do {
      let lock = try FileLock(path: folder.path + "/lock")
      withExtendedLifetime(lock) {}
    }
    #expect(FileLock.holder(path: folder.path + "/lock") == nil)
    let again = try FileLock(path: folder.path + "/lock")
    withExtendedLifetime(again) {}
  }

  @Test("A lock that cannot be made says which call failed")
  func unusable() throws {
    let folder = try TestFolder()
    #expect(throws: FileLock.Failure.system(SystemError(code: ENOENT, operation: "open"))) {
      try FileLock(path: folder.path + "/none/lock")
    }
    #expect(throws: FileLock.Failure.system(SystemError(code: EISDIR, operation: "open"))) {
      try FileLock(path: folder.path)
    }
  }

  @Test(
    "A lock of another process is refused, names it, and is free as soon as that process ends",
    .enabled(if: hasPython, "python3 is what takes the lock in another process"))
  func otherProcess() throws {
    let folder = try TestFolder()
    let path = folder.path + "/lock"
    let other = try ChildProcess(["python3", "-c", Self.script, path])
    let word = other.line()
    let holder = FileLock.holder(path: path)
    let refusal = #expect(throws: FileLock.Failure.self) { try FileLock(path: path) }
    other.finish()
    #expect(word == "locked" && holder == other.identifier && refusal == .held(by: other.identifier))
    #expect(FileLock.holder(path: path) == nil)
    let lock = try FileLock(path: path)
    withExtendedLifetime(lock) {}
  }

  @Test(
    "Another process is kept out for as long as the lock lives, and no longer",
    .enabled(if: hasPython, "python3 is what tries to take the lock in another process"))
  func keepsOthersOut() throws {
    let folder = try TestFolder()
    let path = folder.path + "/lock"
    func otherGetsIt() throws -> Bool {
      let other = try ChildProcess([
        "python3", "-W", "ignore", "-c", "import sys; sys.stderr = None\n" + Self.script, path,
      ])
      defer { other.finish() }
      return other.line() == "locked"
    }
    do {
      let lock = try FileLock(path: path)
      #expect(try !otherGetsIt())
      withExtendedLifetime(lock) {}
    }
    #expect(try otherGetsIt())
  }

  @Test("The lock's file is not for everyone")
  func mode() throws {
    let folder = try TestFolder()
    let lock = try FileLock(path: folder.path + "/lock")
    var status = stat()
    // stat(2) opens nothing, so the lock stays.
    #expect(unsafe stat(folder.path + "/lock", &status) == 0 && status.st_mode & 0o007 == 0)
    withExtendedLifetime(lock) {}
  }
}
