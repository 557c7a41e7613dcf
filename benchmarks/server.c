// The yardsticks' server: libmicrohttpd with the flags, the limits and the number of threads of our HTTPServer, on a
// port of 127.0.0.1 that the system chooses and that is printed.
//
//   server               Reads each request and answers "ok": no signature, no JSON, no disk. Also the destination of the
//                        benchmark's receipts, because nothing is cheaper.
//   server keep FILE     A destination that answers as Purchasely does, with an import id, and at its end writes a line
//                        for each body: the moment (CLOCK_MONOTONIC, nanoseconds) and the body.
//   server append FILE   The minimum work of a program that answers signed events after they are on the disk: the
//                        threads check the signature; one writer inserts the bytes of all events that wait into one
//                        table without an index, in one synced transaction (a group commit), and then answers them.
//                        So it does with contexts that have the app's key. It reads no JSON and delivers nothing.
//
// A line on its stdin makes it print how many bodies it has kept; it ends when its stdin does.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define SECRET "whsec_benchmark_only"
#define KEY "Bearer benchmark-client-key"

enum { threads = 2, connections = 2000, body_max = 4096, prefix_max = 32, code_bytes = 32 };

static enum { bare, keep, append } mode;

struct request {
  struct MHD_Connection *connection;
  struct request *next;
  bool is_context, is_stored;
  char signature[2 * code_bytes + 1];
  size_t prefix, size;  // of the signed text: the signature's time and a full stop; the body
  char text[prefix_max + body_max];
};

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *text) {
  struct MHD_Response *response =
      MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

// MARK: keep

// Room for all bodies that may arrive; only pages that are written use memory.
static const size_t kept_max = (size_t)4 << 30;
static char *kept;
static atomic_size_t kept_size;
static atomic_long kept_count;

static void keep_body(const char *body, size_t size) {
  char line[body_max + 32];
  int length = snprintf(line, sizeof line, "%lld %.*s\n", (long long)nanoseconds(CLOCK_MONOTONIC), (int)size, body);
  size_t place = atomic_fetch_add(&kept_size, (size_t)length);
  if (place + (size_t)length > kept_max) abort();
  memcpy(kept + place, line, (size_t)length);
  atomic_fetch_add(&kept_count, 1);
}

// An answer with an import id: a UUID, as random as Purchasely's.
static enum MHD_Result send_import(struct MHD_Connection *connection) {
  static _Thread_local uint64_t state;
  if (state == 0 && getrandom(&state, sizeof state, 0) != sizeof state) abort();
  uint64_t words[2];
  for (int i = 0; i < 2; i += 1) {  // xorshift64*
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    words[i] = state * 2685821657736338717u;
  }
  char text[64];
  snprintf(text, sizeof text, "{\"id\":\"%08x-%04x-4%03x-8%03x-%012llx\"}", (unsigned)(words[0] >> 32),
           (unsigned)(words[0] >> 16) & 0xffff, (unsigned)words[0] & 0xfff, (unsigned)(words[1] >> 52),
           (unsigned long long)(words[1] & 0xffffffffffff));
  return send_text(connection, 200, text);
}

// MARK: append, on libmicrohttpd's threads

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_changed = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;  // what waits for the writer
static bool is_ending;

// Reads `t=TIME,v1=HEX`.
static bool read_signature(struct request *request, const char *header) {
  int length = 0;
  if (header == NULL) return false;
  sscanf(header, "t=%20[0-9],v1=%64[0-9a-f]%n", request->text, request->signature, &length);
  if (length == 0 || header[length] != '\0') return false;
  request->prefix = strlen(request->text);
  request->text[request->prefix++] = '.';
  return true;
}

// A context with the key, one for each thread.
static EVP_MAC_CTX *make_context(void) {
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", "SHA256", 0), OSSL_PARAM_construct_end()};
  EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *context = EVP_MAC_CTX_new(algorithm);
  EVP_MAC_free(algorithm);
  if (!EVP_MAC_init(context, (const unsigned char *)SECRET, strlen(SECRET), parameters)) abort();
  return context;
}

static bool is_signed(const struct request *request) {
  static _Thread_local EVP_MAC_CTX *context;
  if (context == NULL) context = make_context();
  unsigned char code[code_bytes];
  size_t size;
  // Without a key it starts again with the one that it has (EVP_MAC_init(3)).
  if (!EVP_MAC_init(context, NULL, 0, NULL) ||
      !EVP_MAC_update(context, (const unsigned char *)request->text, request->prefix + request->size) ||
      !EVP_MAC_final(context, code, &size, sizeof code))
    abort();
  char hex[2 * code_bytes + 1];
  for (int i = 0; i < code_bytes; i += 1) sprintf(hex + 2 * i, "%02x", code[i]);
  return CRYPTO_memcmp(hex, request->signature, 2 * code_bytes) == 0;
}

static bool has_key(struct MHD_Connection *connection) {
  const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
  return header != NULL && strlen(header) == strlen(KEY) && CRYPTO_memcmp(header, KEY, strlen(KEY)) == 0;
}

// Suspends the request until the writer has stored it.
static enum MHD_Result submit(struct request *request) {
  pthread_mutex_lock(&lock);
  bool is_accepted = !is_ending;
  if (is_accepted) {
    MHD_suspend_connection(request->connection);
    *last = request;
    last = &request->next;
    pthread_cond_signal(&has_changed);
  }
  pthread_mutex_unlock(&lock);
  return is_accepted ? MHD_YES : MHD_NO;
}

// MARK: append, the writer's thread

static sqlite3 *database;
static sqlite3_stmt *beginning, *committing, *inserting[2];

static void fail(const char *what) {
  fprintf(stderr, "server: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) fail(sql);
  return statement;
}

static void run(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail(sqlite3_sql(statement));
  sqlite3_reset(statement);
}

// With receiptd's settings, except that SQLite runs the checkpoints and deleted content is not overwritten.
static void open_database(const char *path) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK) fail(path);
  const char *sql = "PRAGMA cache_size = -3072; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                    "PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864;"
                    "CREATE TABLE events (row_id INTEGER PRIMARY KEY, received_at INTEGER, body BLOB) STRICT;"
                    "CREATE TABLE contexts (row_id INTEGER PRIMARY KEY, received_at INTEGER, body BLOB) STRICT";
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql);
  beginning = prepare("BEGIN IMMEDIATE");
  committing = prepare("COMMIT");
  inserting[false] = prepare("INSERT INTO events (received_at, body) VALUES (?1, ?2)");
  inserting[true] = prepare("INSERT INTO contexts (received_at, body) VALUES (?1, ?2)");
}

static void insert(const struct request *request, int64_t now) {
  sqlite3_stmt *statement = inserting[request->is_context];
  sqlite3_bind_int64(statement, 1, now);
  sqlite3_bind_blob(statement, 2, request->text + request->prefix, (int)request->size, SQLITE_STATIC);
  run(statement);
}

// All waiting requests, as a list; NULL at the end.
static struct request *dequeue_all(void) {
  pthread_mutex_lock(&lock);
  while (first == NULL && !is_ending) pthread_cond_wait(&has_changed, &lock);
  struct request *batch = first;
  first = NULL;
  last = &first;
  pthread_mutex_unlock(&lock);
  return batch;
}

static void *write_batches(void *unused) {
  struct request *batch;
  while ((batch = dequeue_all()) != NULL) {
    int64_t now = nanoseconds(CLOCK_REALTIME) / 1000000;
    run(beginning);
    for (struct request *request = batch; request != NULL; request = request->next) insert(request, now);
    run(committing);
    while (batch != NULL) {
      struct request *request = batch;
      batch = request->next;  // once it is resumed the request may be gone
      request->is_stored = true;
      MHD_resume_connection(request->connection);
    }
  }
  return unused;
}

// MARK: requests

static enum MHD_Result begin_request(struct MHD_Connection *connection, void **place) {
  static int begun;
  if (mode == bare) return *place = &begun, MHD_YES;
  struct request *request = calloc(1, sizeof *request);
  if ((*place = request) == NULL) return MHD_NO;
  request->connection = connection;
  if (mode == keep) return MHD_YES;
  const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Stripe-Signature");
  request->is_context = header == NULL && has_key(connection);
  return request->is_context || read_signature(request, header) ? MHD_YES : MHD_NO;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *target,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **place) {
  (void)context, (void)target, (void)method, (void)version;
  // The headers alone: an answer now would close the connection.
  if (*place == NULL) return begin_request(connection, place);
  struct request *request = mode == bare ? NULL : *place;
  if (*size > 0) {
    if (request != NULL) {
      if (request->size + *size > body_max) return MHD_NO;
      memcpy(request->text + request->prefix + request->size, data, *size);
      request->size += *size;
    }
    *size = 0;
    return MHD_YES;
  }
  if (mode == bare) return send_text(connection, 200, "ok");
  if (mode == keep) {
    keep_body(request->text, request->size);
    return send_import(connection);
  }
  if (request->is_stored) return send_text(connection, 200, "{\"received\":true}");
  if (!request->is_context && !is_signed(request)) return send_text(connection, 400, "{\"error\":\"signature\"}");
  return submit(request);
}

static void forget(void *context, struct MHD_Connection *connection, void **place,
                   enum MHD_RequestTerminationCode why) {
  (void)context, (void)connection, (void)why;
  if (mode != bare) free(*place);
}

static struct MHD_Daemon *start(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL,
      answer, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_NOTIFY_COMPLETED, forget, NULL,
      MHD_OPTION_THREAD_POOL_SIZE, (unsigned)threads, MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32 * 1024, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
  if (daemon == NULL) exit(1);
  printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  return daemon;
}

static void serve_until_stdin_ends(void) {
  char unused[64];
  while (fgets(unused, sizeof unused, stdin) != NULL) {
    printf("%ld\n", atomic_load(&kept_count));
    fflush(stdout);
  }
}

int main(int count, char **words) {
  mode = count != 3 ? bare : strcmp(words[1], "keep") == 0 ? keep : append;
  pthread_t writer;
  if (mode == keep) {
    kept = mmap(NULL, kept_max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (kept == MAP_FAILED) return 1;
  }
  if (mode == append) {
    open_database(words[2]);
    if (pthread_create(&writer, NULL, write_batches, NULL) != 0) return 1;
  }
  struct MHD_Daemon *daemon = start();
  serve_until_stdin_ends();
  if (mode == append) {
    pthread_mutex_lock(&lock);
    is_ending = true;
    pthread_cond_signal(&has_changed);
    pthread_mutex_unlock(&lock);
    pthread_join(writer, NULL);
  }
  MHD_stop_daemon(daemon);
  if (mode != keep) return 0;
  FILE *file = fopen(words[2], "w");
  if (file == NULL || fwrite(kept, 1, kept_size, file) != kept_size) return 1;
  return fclose(file) == 0 ? 0 : 1;
}
