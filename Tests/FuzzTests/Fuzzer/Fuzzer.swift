// The program that libFuzzer drives: `FUZZ_TARGET` names the target. It exists only in the build of
// `deploy/dev/fuzz`. One thread.

import Glibc

/// The target of this process.
private let target: FuzzTarget = {
  let name = unsafe getenv("FUZZ_TARGET").flatMap { unsafe String(validatingCString: $0) } ?? ""
  guard let target = FuzzTarget.named(name) else {
    print("FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    exit(64)
  }
  return target
}()

/// libFuzzer's loop, for programs with a main function of their own
/// (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library).
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ execute: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@main
private enum Fuzzer {
  static func main() {
    var count = CommandLine.argc
    var words = unsafe CommandLine.unsafeArgv
    exit(unsafe runDriver(&count, &words) { unsafe fuzz($0, $1) })
  }
}

/// One execution (https://llvm.org/docs/LibFuzzer.html#fuzz-target). A finding traps, which libFuzzer
/// detects.
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: min(count, target.bytesMax)))
  do {
    try target.check(bytes)
  } catch {
    fatalError("\(target.name): \(error)")
  }
  return 0
}
