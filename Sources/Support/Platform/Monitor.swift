// A monitor: state that is accessible only under its lock, and a condition to wait on (Hoare 1974;
// pthread_cond_wait(3)). Threads of this project share mutable state only through it. Thread-safe. Never call
// another component while holding it.

public import Glibc

/// State behind a mutex with one condition variable.
///
/// Owns the mutex, the condition and the state; `deinit` destroys all. Waits use the monotonic clock, so a
/// clock step neither shortens nor extends them. The methods are inlinable, because they run several times
/// for each request.
@safe public final class Monitor<State>: @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
  @usableFromInline let state: UnsafeMutablePointer<State>

  public init(_ state: sending State) {
    unsafe self.state = .allocate(capacity: 1)
    unsafe self.state.initialize(to: state)
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Runs `body` with exclusive access to the state.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }

  /// Runs `body` with exclusive access to the state, then wakes all waiting threads.
  @inlinable
  public func update<Result>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    return unsafe body(&state.pointee)
  }

  /// Waits until `body` returns a value; calls it again after each `update`.
  /// - Parameter deadline: on the monotonic clock; nil waits for ever.
  /// - Returns: the value of `body`, or nil when the deadline passed first.
  @inlinable
  public func wait<Result>(until deadline: MonotonicInstant? = nil, _ body: (inout State) -> Result?)
    -> Result?
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = unsafe body(&state.pointee) { return result }
      guard let deadline else {
        unsafe pthread_cond_wait(condition, mutex)
        continue
      }
      var time = deadline.timespec
      if unsafe pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT {
        return unsafe body(&state.pointee)
      }
    }
  }
}
