// A lock that names its holder. POSIX locks work between processes, so the tests need a second one.

import Glibc
import Platform
import TestSupport
import Testing

@Suite("A file lock") struct FileLockTests {
  /// Locks the file, prints a line, and holds the lock until its input ends.
  private static let script = """
    import fcntl, sys
    file = open(sys.argv[1], "a+")
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("locked", flush=True)
    sys.stdin.read()
    """

  static let hasPython = ShellRun.isThere("python3")

  @Test func `A missing or unlocked file has no holder`() throws {
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

  @Test func `A lock that cannot be made says which call failed`() throws {
    let folder = try TestFolder()
    #expect(throws: LockFailure.system(SystemError(code: ENOENT, operation: "open"))) {
      try FileLock(path: folder.path + "/none/lock")
    }
    #expect(throws: LockFailure.system(SystemError(code: EISDIR, operation: "open"))) {
      try FileLock(path: folder.path)
    }
  }

  @Test(.enabled(if: hasPython, "python3 is what takes the lock in another process"))
  func `A lock of another process is refused, names its holder, and is free when that process ends`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/lock"
    let other = try PipedProcess(["python3", "-c", Self.script, path])
    let word = other.line()
    let holder = FileLock.holder(path: path)
    let refusal = #expect(throws: LockFailure.self) { try FileLock(path: path) }
    other.kill()
    let who = LockHolder(process: other.id, purpose: .serving)
    #expect(word == "locked")
    #expect(holder == who)
    #expect(refusal == .held(by: who))
    #expect(FileLock.holder(path: path) == nil)
    let lock = try FileLock(path: path)
    withExtendedLifetime(lock) {}
  }

  @Test(.enabled(if: hasPython, "python3 is what tries to take the lock in another process"))
  func `Another process is kept out for as long as the lock lives, and no longer`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/lock"
    func otherGetsIt() throws -> Bool {
      let other = try PipedProcess([
        "python3", "-W", "ignore", "-c", "import sys; sys.stderr = None\n" + Self.script, path,
      ])
      defer { other.kill() }
      return other.line() == "locked"
    }
    do {
      let lock = try FileLock(path: path)
      #expect(try !otherGetsIt())
      withExtendedLifetime(lock) {}
    }
    #expect(try otherGetsIt())
  }

  @Test func `The lock's file is not readable by others`() throws {
    let folder = try TestFolder()
    let lock = try FileLock(path: folder.path + "/lock")
    var status = stat()
    // stat(2) opens no descriptor, so the lock is kept.
    #expect(unsafe stat(folder.path + "/lock", &status) == 0)
    #expect(status.st_mode & 0o007 == 0)
    withExtendedLifetime(lock) {}
  }

  /// Locks like db restore: a range of the file for the process.
  private static let restoreScript = """
    import fcntl, sys
    file = open(sys.argv[1], "a+")
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 2, 1)
    print("locked", flush=True)
    sys.stdin.read()
    """

  @Test(.enabled(if: hasPython, "python3 is what takes the lock in another process"))
  func `The lock names the holder's purpose, so that a restore is not signalled`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/lock"
    let other = try PipedProcess(["python3", "-c", Self.restoreScript, path])
    defer { other.kill() }
    #expect(other.line() == "locked")
    let who = LockHolder(process: other.id, purpose: .replacing)
    #expect(FileLock.holder(path: path) == who)
    for purpose in LockPurpose.allCases {
      #expect(throws: LockFailure.held(by: who)) { try FileLock(path: path, purpose: purpose) }
    }
  }

  @Test func `A lock on a file holds for each of its names, and for as long as it lives`() throws {
    let folder = try TestFolder()
    let (path, hard, soft) = (folder.path + "/db", folder.path + "/hard", folder.path + "/soft")
    do {
      let lock = try InodeLock(path: path, creates: true)
      #expect(unsafe link(path, hard) == 0)
      #expect(unsafe symlink(path, soft) == 0)
      for name in [path, hard, soft] {
        // This would release a POSIX lock of this process.
        _ = try FileReading.content(of: name, bytesMax: 10)
        #expect(throws: LockFailure.held(by: nil)) { try InodeLock(path: name, creates: false) }
      }
      #expect(lock.file?.links == 2)
      #expect(FileIdentity(path: soft)?.isSameFile(as: try #require(lock.file)) == true)
      unsafe unlink(path)
      unsafe unlink(hard)
      #expect(lock.file?.links == 0)
      #expect(FileIdentity(path: path) == nil)
    }
    let again = try InodeLock(path: path, creates: true)
    withExtendedLifetime(again) {}
    #expect(unsafe mkfifo(folder.path + "/fifo", 0o600) == 0)
    #expect(throws: LockFailure.system(.notARegularFile)) {
      try InodeLock(path: folder.path + "/fifo", creates: true)
    }
  }

  @Test func `Shared locks exclude only an exclusive lock`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/lock"
    let lock = try FileLock(path: path, purpose: .replacing)
    do {
      let users = [try FileUse(path: path), try FileUse(path: path)]
      #expect(throws: LockFailure.held(by: nil)) { try lock.keepingUsersOut {} }
      withExtendedLifetime(users) {}
    }
    try lock.keepingUsersOut {
      #expect(throws: LockFailure.held(by: nil)) { try FileUse(path: path) }
    }
    let later = try FileUse(path: path)
    withExtendedLifetime(later) {}
  }

  @Test func `Links in a path are followed to the file, or to its future place`() throws {
    let folder = try TestFolder()
    let base = try FilePath.resolved(folder.path)
    #expect(unsafe mkdir(base + "/a", 0o700) == 0)
    #expect(unsafe symlink("a", base + "/b") == 0)
    #expect(try FilePath.resolved(base + "/b/../b/db") == base + "/a/db")
    #expect(unsafe symlink("b/db", base + "/dangling") == 0)
    #expect(try FilePath.resolved(base + "/dangling") == base + "/a/db")
    #expect(unsafe symlink("loop", base + "/loop") == 0)
    #expect(throws: SystemError(code: ELOOP, operation: "realpath")) { try FilePath.resolved(base + "/loop") }
    #expect(throws: SystemError(code: ENOENT, operation: "realpath")) {
      try FilePath.resolved(base + "/none/db")
    }
    #expect(try FilePath.resolved("/db") == "/db")
  }
}
