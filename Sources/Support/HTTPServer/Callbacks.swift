// The callbacks of libmicrohttpd. Called on its threads: every function returns soon and keeps no pointer of
// the library. The context of each callback is the server's `Core`, borrowed: the server keeps it until the
// daemon has stopped.

internal import CMicroHTTPD
internal import Platform

enum Callbacks {
  static func install(in options: inout CMicroHTTPDOptions) {
    unsafe options.log = { unsafe Callbacks.log($0, $1) }
    unsafe options.connection = { unsafe Callbacks.connection($0, $1, $2, $3) }
    unsafe options.target = { _, target, handle in unsafe Callbacks.target(target, handle) }
    unsafe options.request = { _, handle, _, method, _, data, size, requestContext in
      unsafe Callbacks.request(handle, method, data, size, requestContext)
    }
    unsafe options.completed = { _, _, requestContext, _ in unsafe Callbacks.completed(requestContext) }
  }

  private static func core(_ context: UnsafeMutableRawPointer?) -> Core? {
    unsafe context.map { unsafe Unmanaged<Core>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func connection(_ context: UnsafeMutableRawPointer?) -> ClientConnection? {
    unsafe context.map { unsafe Unmanaged<ClientConnection>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func log(_ context: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?) {
    guard let core = unsafe core(context), let text = unsafe text else { return }
    // The library may quote the client, so the text may be invalid UTF-8.
    var message = unsafe String(validatingCString: text) ?? "a message that is not valid UTF-8"
    while message.last == "\n" { message.removeLast() }
    core.startMessages.withLock { $0?.append(message) }
    core.log(message)
  }

  /// A connection has started or is about to be closed. `socketContext` owns one reference in between.
  /// libmicrohttpd calls once for each, in this order, even when it fails to start the connection or stops.
  private static func connection(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
  ) {
    guard let core = unsafe core(context), let socketContext = unsafe socketContext else { return }
    switch code {
    case .CONNECTION_NOTIFY_STARTED:
      guard let handle = unsafe handle else { return }
      let connection = core.register(unsafe CMicroHTTPD_socket(handle)) { admission in
        unsafe ClientConnection(core: core, handle: handle, admission)
      }
      unsafe socketContext.pointee = unsafe Unmanaged.passRetained(connection).toOpaque()
    case .CONNECTION_NOTIFY_CLOSED:
      guard let opaque = unsafe socketContext.pointee else { return }
      unsafe socketContext.pointee = nil
      let connection = unsafe Unmanaged<ClientConnection>.fromOpaque(opaque).takeRetainedValue()
      connection.closed()
      core.unregister(connection)
    default: break
    }
  }

  /// A request line has arrived. `target` is as the client wrote it; in the URL that the request callback
  /// gets, libmicrohttpd has decoded the escapes.
  /// - Returns: the request's context: the connection, borrowed, because the request ends before the
  ///   connection.
  private static func target(
    _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
  ) -> UnsafeMutableRawPointer? {
    guard let handle = unsafe handle, let opaque = unsafe CMicroHTTPD_socketContext(handle) else {
      return nil
    }
    unsafe connection(opaque)?.begin(target: unsafe target.flatMap { unsafe String(validatingCString: $0) })
    if let target = unsafe target { unsafe CMicroHTTPD_dropQuery(target) }
    return unsafe opaque
  }

  private static func request(
    _ handle: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?,
    _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> MHD_Result {
    guard let handle = unsafe handle, let size = unsafe size, let requestContext = unsafe requestContext,
      let connection = unsafe connection(requestContext.pointee)
    else { return .NO }
    let chunk = unsafe UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size.pointee)
    let step = unsafe connection.advance(method: method, chunk: chunk)
    // All bytes are consumed.
    unsafe size.pointee = 0
    switch step {
    case .proceed: return .YES
    case .close: return .NO
    case .send(let response): return unsafe response.queue(on: handle, for: connection)
    }
  }

  private static func completed(_ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) {
    guard let requestContext = unsafe requestContext else { return }
    unsafe connection(requestContext.pointee)?.finish()
    unsafe requestContext.pointee = nil
  }
}

extension Response {
  /// Hands the answer to libmicrohttpd, which copies it, or asks for its body while it sends.
  /// - Returns: `MHD_NO`, which closes the connection, when libmicrohttpd rejects the response.
  func queue(on handle: OpaquePointer, for connection: ClientConnection) -> MHD_Result {
    let core = connection.core
    let made = unsafe stream.map { unsafe Self.streamed($0, connection) } ?? copied
    guard let made = unsafe made else { return .NO }
    // The connection holds its own reference until the answer is sent.
    defer { unsafe MHD_destroy_response(made) }
    for (name, value) in headers {
      if let fault = Response.fault(name: name, value: value) {
        core.log("dropped \(fault)")
      } else if unsafe MHD_add_response_header(made, name, value) != .YES {
        core.log("dropped the response header \(name): libmicrohttpd refuses it")
      }
    }
    // libmicrohttpd 0.9.75 would send the end of a chunked body after the answer to HEAD, too.
    if stream != nil, connection.isHead { _ = unsafe CMicroHTTPD_endConnection(made) }
    let isOfEarlierIdentity = connection.identityNumber != core.identityNumber
    if closesConnection || core.isStopping || isOfEarlierIdentity || connection.mustClose {
      _ = unsafe MHD_add_response_header(made, "Connection", "close")
    }
    if sendableStatus != status { core.log("status \(status) sent as \(sendableStatus)") }
    return unsafe MHD_queue_response(handle, UInt32(sendableStatus), made)
  }

  private var copied: OpaquePointer? {
    unsafe body.withUnsafeBytes { bytes in
      // libmicrohttpd does not write to the buffer: MHD_RESPMEM_MUST_COPY.
      unsafe MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
  }

  /// How many bytes libmicrohttpd asks for at once, at most; its buffer is that of the connection.
  private static let streamedBytes = 32 * 1024

  /// The response owns the stream: the last callback releases it, also if the response is never sent.
  private static func streamed(_ stream: any BodyStream, _ connection: ClientConnection) -> OpaquePointer? {
    let box = unsafe Unmanaged.passRetained(StreamInFlight(stream, connection))
    let made = unsafe MHD_create_response_from_callback(
      CMicroHTTPD_sizeUnknown, streamedBytes,
      { box, _, buffer, size in
        guard let box = unsafe box, let buffer = unsafe buffer else {
          return CMicroHTTPD_endWithError
        }
        let stream = unsafe Unmanaged<StreamInFlight>.fromOpaque(box).takeUnretainedValue()
        return unsafe stream.copy(to: UnsafeMutableRawBufferPointer(start: buffer, count: size))
      }, box.toOpaque(),
      { box in
        if let box = unsafe box { unsafe Unmanaged<StreamInFlight>.fromOpaque(box).release() }
      })
    if unsafe made == nil { unsafe box.release() }
    return unsafe made
  }
}
