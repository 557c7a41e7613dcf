// Reads the head of a request from libmicrohttpd's own buffer. The library is lenient: a line may end in a
// bare line feed; a NUL ends a value, and the rest of the line is dropped; a folded line joins the name; and
// a line that begins with a NUL, or whose name is empty, ends the head, so what follows is read as a body or
// as another request. A parser in front of the relay that reads the same bytes in another way lets a client
// hide a request (RFC 9112 §11.2). Therefore every byte of the head must be accounted for.

internal import CMicroHTTPD
internal import Glibc

extension HeaderFields {
  /// Reads the fields of the request that the connection has read. `areWellFormed` is false if the head is
  /// not exactly a request line, fields and an empty line, each ended by CRLF.
  ///
  /// libmicrohttpd has replaced by NULs both bytes of each line end, the spaces in the request line and the
  /// colons after the names. It has decoded the target in its place. So the bytes must be
  /// `METHOD 0 TARGET 0 VERSION 0 0`, then `NAME 0 VALUE 0 0` for each field, then `0 0`.
  ///
  /// Two sequences of two bytes look like CRLF now: a NUL and a bare line feed, and at the
  /// start of a line a colon and a bare line feed. `ConnectionState.hasSentAhead` covers what they could
  /// hide.
  /// - Parameters:
  ///   - method: as libmicrohttpd hands it over, in its buffer.
  ///   - target: as received.
  init(of handle: OpaquePointer, method: UnsafePointer<CChar>, target: String) {
    self.init()
    let block = unsafe UnsafeRawBufferPointer(start: method, count: CMicroHTTPD_headBytes(handle))
    let version = unsafe strlen(method) + target.utf8.count + 2
    let fields = version + 10
    // The library has validated the version; this finds that it is in its place.
    guard fields + 2 <= block.count, unsafe block[version - 1] == 0,
      unsafe block[version..<(version + 7)].elementsEqual("HTTP/1.".utf8),
      unsafe block[fields - 2] == 0, unsafe block[fields - 1] == 0
    else {
      areWellFormed = false
      return
    }
    areOfHTTP10 = unsafe block[version + 7] == UInt8(ascii: "0")
    unsafe append(fieldsOf: block, from: fields)
  }

  private mutating func append(fieldsOf block: UnsafeRawBufferPointer, from start: Int) {
    var start = start
    while areWellFormed, start + 2 < block.count {
      let nameEnd = unsafe Self.end(in: block, from: start)
      let valueEnd = unsafe Self.end(in: block, from: nameEnd + 1)
      guard valueEnd + 1 < block.count, unsafe block[valueEnd + 1] == 0 else { break }
      unsafe append(
        name: UnsafeRawBufferPointer(rebasing: block[start..<nameEnd]),
        value: UnsafeRawBufferPointer(rebasing: block[(nameEnd + 1)..<valueEnd]))
      start = valueEnd + 2
    }
    guard start + 2 == block.count, unsafe block[start] == 0, unsafe block[start + 1] == 0 else {
      areWellFormed = false
      return
    }
  }

  /// The position of the next NUL; the end of the block if there is none.
  private static func end(in block: UnsafeRawBufferPointer, from start: Int) -> Int {
    guard start < block.count, let base = block.baseAddress,
      let found = unsafe memchr(base + start, 0, block.count - start)
    else { return block.count }
    return unsafe UnsafeRawPointer(found) - base
  }
}
