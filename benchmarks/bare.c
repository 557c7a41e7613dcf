// The yardstick: libmicrohttpd with the flags and the number of threads of our HTTPServer, answering "ok" once
// a request's body has been read. No signature, no JSON, no disk. Also the destination of the benchmark's
// receipts, because nothing is cheaper.
//
// With a file as its argument it is a destination that keeps what arrives: it answers as Purchasely does, with an
// import id, and at its end writes a line for each body: the moment (CLOCK_MONOTONIC, nanoseconds) and the body.
//
// Listens on 127.0.0.1 and prints the port that the system chose. A line on its stdin makes it print how many
// bodies it has kept; it ends when its stdin does.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "http.h"
#include "server.h"

// Room for all bodies that may arrive; only pages that are written use memory.
static const size_t kept_max = (size_t)4 << 30;
static char *kept;
static atomic_size_t kept_size;
static atomic_long kept_count;

struct body {
  size_t size;
  char text[body_max];
};

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *target,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **request) {
  static int begun;
  (void)context, (void)target, (void)method, (void)version, (void)data;
  if (*request == NULL) {  // the headers alone; an answer now would close the connection
    *request = &begun;
    return MHD_YES;
  }
  if (*size > 0) {
    *size = 0;
    return MHD_YES;
  }
  return send_text(connection, 200, "ok");
}

static void keep(const struct body *body) {
  char line[body_max + 32];
  int size = snprintf(line, sizeof line, "%lld %.*s\n", (long long)monotonic_ns(), (int)body->size, body->text);
  size_t place = atomic_fetch_add(&kept_size, (size_t)size);
  if (place + (size_t)size > kept_max) abort();
  memcpy(kept + place, line, (size_t)size);
  atomic_fetch_add(&kept_count, 1);
}

// The answer's import id: a UUID, as random as Purchasely's.
static void make_import(char *text, size_t size) {
  static _Thread_local uint64_t state;
  if (state == 0 && getrandom(&state, sizeof state, 0) != sizeof state) abort();
  uint64_t words[2];
  for (int i = 0; i < 2; i += 1) {  // xorshift64*
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    words[i] = state * 2685821657736338717u;
  }
  snprintf(text, size, "{\"id\":\"%08x-%04x-4%03x-8%03x-%012llx\"}", (unsigned)(words[0] >> 32),
           (unsigned)(words[0] >> 16) & 0xffff, (unsigned)words[0] & 0xfff, (unsigned)(words[1] >> 52),
           (unsigned long long)(words[1] & 0xffffffffffff));
}

static enum MHD_Result keep_and_answer(void *context, struct MHD_Connection *connection, const char *target,
                                       const char *method, const char *version, const char *data, size_t *size,
                                       void **request) {
  (void)context, (void)target, (void)method, (void)version;
  struct body *body = *request;
  if (body == NULL) {
    if ((*request = body = malloc(sizeof *body)) == NULL) return MHD_NO;
    body->size = 0;
    return MHD_YES;
  }
  if (*size > 0) {
    if (body->size + *size > body_max) return MHD_NO;
    memcpy(body->text + body->size, data, *size);
    body->size += *size;
    *size = 0;
    return MHD_YES;
  }
  keep(body);
  char text[64];
  make_import(text, sizeof text);
  return send_text(connection, 200, text);
}

static void forget(void *context, struct MHD_Connection *connection, void **request,
                   enum MHD_RequestTerminationCode why) {
  (void)context, (void)connection, (void)why;
  if (kept != NULL) free(*request);
}

int main(int count, char **words) {
  if (count > 1) {
    kept = mmap(NULL, kept_max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (kept == MAP_FAILED) return 1;
  }
  struct MHD_Daemon *daemon = start_server(kept == NULL ? answer : keep_and_answer, forget);
  if (daemon == NULL) return 1;
  char unused[64];
  while (fgets(unused, sizeof unused, stdin) != NULL) {
    printf("%ld\n", atomic_load(&kept_count));
    fflush(stdout);
  }
  MHD_stop_daemon(daemon);
  if (kept == NULL) return 0;
  FILE *file = fopen(words[1], "w");
  if (file == NULL || fwrite(kept, 1, kept_size, file) != kept_size) return 1;
  return fclose(file) == 0 ? 0 : 1;
}
