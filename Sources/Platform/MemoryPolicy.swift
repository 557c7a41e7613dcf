// How the C library's allocator treats freed memory. Call it before other threads run.

internal import CMalloc

/// Settings of malloc(3).
public enum MemoryPolicy {
  /// Keeps freed pages, because the next batch of requests needs them again. Otherwise glibc returns them to
  /// the kernel (mallopt(3), M_TRIM_THRESHOLD: 128 KiB by default) and each batch faults them in again.
  public static func keepFreedPages() {
    mallopt(M_TRIM_THRESHOLD, 4 << 20)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
  }
}
