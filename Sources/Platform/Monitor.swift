// A monitor: state that is reached only under its lock, and a condition to wait on (Hoare 1974;
// pthread_cond_wait(3)). The one way in which threads of this project share what changes. Any thread. Never
// call out while holding it.

public import Glibc

/// State behind a mutex with one condition variable.
///
/// Owns the mutex, the condition and the state; all are destroyed with it. Waits are measured on the
/// monotonic clock, so a jump of the wall clock neither cuts nor stretches them. What is done under the lock
/// is compiled into its caller: it is done several times for each request.
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

  /// Runs `body` with the state, alone.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }

  /// Runs `body` with the state, then wakes everyone who waits.
  @inlinable
  public func update<Result>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    return unsafe body(&state.pointee)
  }

  /// Waits until `body` gives a value, asking again after each `update`.
  /// - Parameter deadline: on the monotonic clock; nil waits for ever.
  /// - Returns: what `body` gave, or nil when the deadline passed first.
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
