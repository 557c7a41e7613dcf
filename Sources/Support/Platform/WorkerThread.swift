// A plain thread with a name. The code on it blocks in C or is called from C, for which Swift's cooperative
// thread pool is unsuitable: the pool is only as wide as the number of cores.

internal import Glibc

/// A thread that runs one closure and is joined by its owner.
///
/// Owns the thread. `join()` must be called once, by one thread; nothing else reports that the body has
/// ended.
public final class WorkerThread: Sendable {
  private let handle: pthread_t

  /// Starts the thread.
  /// - Parameter name: shown by `top -H` and in debuggers; the kernel keeps 15 bytes (proc_pid_comm(5)).
  public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let box = unsafe Unmanaged.passRetained(Body(name: name, run: body))
    var handle = pthread_t()
    let code = unsafe pthread_create(&handle, nil, { unsafe WorkerThread.enter($0) }, unsafe box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      throw SystemError(code: code, operation: "pthread_create")
    }
    self.handle = handle
  }

  /// Waits until the body has ended.
  public func join() {
    pthread_join(handle, nil)
  }

  /// Lets all other threads use the CPU before the calling one. Ignores errors: the thread works as well
  /// without that.
  public static func yieldToOthers() {
    // On Linux the value belongs to the thread, not to the process (setpriority(2), "Notes").
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
  }

  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  private static func enter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
    setName(body.name)
    body.run()
    return nil
  }

  /// Ignores errors: the thread works without a name.
  private static func setName(_ name: String) {
    guard let file = try? FileDescriptor.open("/proc/thread-self/comm", O_WRONLY) else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = unsafe write(file.number, bytes, bytes.count)
  }
}
