// The queue between those who log and the stream that the lines go to. A reader of the stream that stops
// reading (a full pipe, a stuck terminal) blocks the queue's own thread and nothing else: lines beyond a
// bound are dropped and counted. The stream stays in blocking mode, because O_NONBLOCK would apply to
// everyone who shares it (fcntl(2): it belongs to the open file description).

internal import Glibc

/// Writes log lines on a thread of its own.
///
/// The thread starts with the first line, so a program that logs nothing has none. It is never joined: it may
/// be blocked in write(2) for ever, and the end of the process ends it. Any thread may use the queue.
public final class LogQueue: Sendable {
  /// Lines that may wait; with those that the thread has dequeued, twice as many are in memory at most.
  public static let linesMax = 8192
  /// The same in bytes.
  public static let bytesMax = 4 << 20

  private struct State {
    var lines: [[UInt8]] = []
    var bytes = 0
    /// Dropped since the last line that was accepted into `lines`.
    var dropped: UInt64 = 0
    var droppedTotal: UInt64 = 0
    var isWriting = false
    var isStarted = false
  }

  private let state = Monitor(State())
  private let descriptor: Int32
  private let linesMax: Int
  /// Makes the line that reports how many were dropped.
  private let notice: @Sendable (UInt64) -> [UInt8]

  /// - Parameters:
  ///   - descriptor: stays the caller's and open; standard error when not given.
  ///   - notice: makes the line that reports dropped lines from their number. Called on the queue's thread.
  public init(
    descriptor: Int32 = 2, linesMax: Int = LogQueue.linesMax,
    notice: @escaping @Sendable (UInt64) -> [UInt8]
  ) {
    self.descriptor = descriptor
    self.linesMax = linesMax
    self.notice = notice
  }

  /// Lines dropped since the start.
  public var droppedLines: UInt64 { state.withLock { $0.droppedTotal } }

  /// Queues a line, or drops it when the queue is full. Never blocks.
  /// - Parameter line: with its newline.
  public func append(_ line: [UInt8]) {
    let (isFirst, needsThread) = state.withLock { state in
      guard state.lines.count < linesMax, state.bytes + line.count <= Self.bytesMax else {
        state.dropped += 1
        state.droppedTotal += 1
        return (false, false)
      }
      defer {
        state.lines.append(line)
        state.bytes += line.count
        state.isStarted = true
      }
      return (state.lines.isEmpty, !state.isStarted)
    }
    if needsThread {
      start()
    } else if isFirst {
      state.update { _ in }
    }
  }

  /// Waits until everything that was queued is written, but no longer than this.
  /// - Returns: whether all of it is.
  @discardableResult public func flush(withinMilliseconds milliseconds: Int64) -> Bool {
    let deadline = MonotonicInstant.now().advanced(byMilliseconds: milliseconds)
    let isDone: Bool? = state.wait(until: deadline) { state in
      state.lines.isEmpty && state.dropped == 0 && !state.isWriting ? true : nil
    }
    return isDone ?? false
  }

  private func start() {
    do throws(SystemError) {
      _ = try WorkerThread(name: "log") { [self] in run() }
    } catch {
      // Without a thread there is nobody but the caller to write. This happens at the start only: the thread
      // starts with the first line.
      state.update { $0.isStarted = false }
      writeWaiting()
    }
  }

  private func run() -> Never {
    while true {
      let _: Bool? = state.wait { $0.lines.isEmpty && $0.dropped == 0 ? nil : true }
      writeWaiting()
    }
  }

  /// Writes what waits. What was dropped meanwhile is newer than the dequeued lines and older than the next.
  private func writeWaiting() {
    let (lines, dropped) = state.withLock { state in
      defer {
        state.lines = []
        state.bytes = 0
        state.dropped = 0
        state.isWriting = true
      }
      return (state.lines, state.dropped)
    }
    for line in lines { write(line) }
    if dropped > 0 { write(notice(dropped)) }
    state.update { $0.isWriting = false }
  }

  /// One write(2) for a line, so that lines of several processes do not mix (pipe(7), PIPE_BUF). A stream
  /// that cannot be written to is no reason to stop the program.
  private func write(_ line: [UInt8]) {
    var rest = line[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      }
      if written < 0 && errno == EINTR { continue }
      if written < 0 && errno == EAGAIN {
        // Someone else who shares the stream made it non-blocking.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&entry, 1, -1)
        continue
      }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }
}
