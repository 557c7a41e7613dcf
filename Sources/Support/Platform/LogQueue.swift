// The queue between the logging threads and the output stream. When the reader of the stream stops reading (a
// full pipe, a stuck terminal), only the queue's thread blocks: lines beyond a limit are dropped and counted.
// The stream stays in blocking mode, because O_NONBLOCK would apply to every process that shares it
// (fcntl(2): it belongs to the open file description).

internal import Glibc

/// Writes log lines on a separate thread.
///
/// The thread starts with the first line, so a program that logs nothing has none. It is never joined,
/// because it may block in write(2) for ever; it ends with the process. Thread-safe.
public final class LogQueue: Sendable {
  /// The maximum number of queued lines. With those that the thread has dequeued, at most twice as many are
  /// in memory.
  public static let linesMax = 8192
  /// The maximum size of the queued lines in bytes.
  public static let bytesMax = 4 << 20

  private struct State {
    var lines: [[UInt8]] = []
    var bytes = 0
    /// Dropped since the thread last wrote.
    var dropped: UInt64 = 0
    var droppedTotal: UInt64 = 0
    var isWriting = false
    var isStarted = false
  }

  private let state = Monitor(State())
  private let descriptor: Int32
  private let linesMax: Int
  /// Makes the line that reports the number of dropped lines.
  private let notice: @Sendable (UInt64) -> [UInt8]

  /// - Parameters:
  ///   - descriptor: the caller owns it and keeps it open; the default is standard error.
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

  /// Waits until all queued lines are written, at most for this time.
  /// - Returns: whether all of them are written.
  @discardableResult public func flush(within time: Duration) -> Bool {
    let deadline = MonotonicInstant.now() + time
    let isDone: Bool? = state.wait(until: deadline) { state in
      state.lines.isEmpty && state.dropped == 0 && !state.isWriting ? true : nil
    }
    return isDone ?? false
  }

  private func start() {
    do throws(SystemError) {
      _ = try WorkerThread(name: "log") { [self] in run() }
    } catch {
      // Without a thread the caller writes. This happens at the start only: the thread starts with the first
      // line.
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

  /// Writes the queued lines. Lines dropped meanwhile are newer than the dequeued ones and older than the
  /// next.
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

  /// One write(2) for each line, so that lines of several processes do not mix (pipe(7), PIPE_BUF). Ignores
  /// an error: a log that cannot be written must not stop the program.
  private func write(_ line: [UInt8]) {
    var rest = line[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      }
      if written < 0 && errno == EINTR { continue }
      if written < 0 && errno == EAGAIN {
        // Another process that shares the stream made it non-blocking.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&entry, 1, -1)
        continue
      }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }
}
