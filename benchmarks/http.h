// HTTP/1.1 and clock for the benchmark's own clients: where an answer ends, and the time. Any thread.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// The length of the answer with which `text` (ended by a NUL) begins, 0 if it is incomplete, -1 if it is not an
// answer or has no length.
static inline long answer_length(const char *text, size_t size) {
  const char *end = strstr(text, "\r\n\r\n");
  if (end == NULL) return 0;
  if (strncmp(text, "HTTP/1.1 ", 9) != 0) return -1;
  const char *length = strcasestr(text, "\r\nContent-Length:");
  if (length == NULL || length > end) return -1;
  long all = end + 4 - text + strtol(length + 17, NULL, 10);
  return all <= (long)size ? all : 0;
}
