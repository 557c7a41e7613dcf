// What the benchmark's own clients need of HTTP/1.1 and of the clock: where an answer ends, and what time it
// is. Any thread.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// The length of the answer that `text` (ended by a NUL) begins with, 0 if the rest is still to come, -1 if it
// is none or does not say its length.
static inline long answer_length(const char *text, size_t size) {
  const char *end = strstr(text, "\r\n\r\n");
  if (end == NULL) return 0;
  if (strncmp(text, "HTTP/1.1 ", 9) != 0) return -1;
  const char *length = strcasestr(text, "\r\nContent-Length:");
  if (length == NULL || length > end) return -1;
  long all = end + 4 - text + strtol(length + 17, NULL, 10);
  return all <= (long)size ? all : 0;
}
