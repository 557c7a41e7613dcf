// How the C library's allocator treats what is freed. Before other threads run.

internal import CMalloc

/// Settings of malloc(3).
public enum MemoryPolicy {
  /// What a batch of requests frees, the next one needs again: without this, glibc gives the pages back to
  /// the kernel each time (mallopt(3), M_TRIM_THRESHOLD: 128 KiB unless set) and faults them in anew.
  public static func keepFreedPages() {
    mallopt(M_TRIM_THRESHOLD, 4 << 20)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
  }
}
