// The yardstick of the job itself: the minimum work of a program that answers signed events after they are on
// the disk. libmicrohttpd's threads check the signature; one writer stores all events that wait in one synced
// transaction (a group commit) and then answers them.
//
// Arguments: `append` and a new file: each event's bytes go into one table without an index, and so do those of
// contexts that have the app's key. Or `schema` and an empty database that receiptd made: receiptd's lookups, the
// purchase with a receipt that is ready, and the event, in receiptd's own tables, with a plain index for each id.
// Nothing more: it searches the body for what it needs, and supports the benchmark's events alone (paid, each a
// new purchase, with its ply_context). Nothing is delivered.
//
// Prints its port. Ends when its stdin does.
#define _GNU_SOURCE
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>

#include "server.h"
#include "store.h"

#define SECRET "whsec_benchmark_only"
#define KEY "Bearer benchmark-client-key"

enum { prefix_max = 32, code_bytes = 32 };

struct request {
  struct MHD_Connection *connection;
  struct request *next;
  bool is_context, is_stored;
  char signature[2 * code_bytes + 1];
  size_t prefix, size;                // of the signed text: the signature's time and a full stop; the body
  char text[prefix_max + body_max];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_changed = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;  // what waits for the writer
static bool is_ending;

// MARK: libmicrohttpd's threads

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
  char hex[2 * code_bytes];
  for (int i = 0; i < code_bytes; i += 1) {
    hex[2 * i] = "0123456789abcdef"[code[i] >> 4];
    hex[2 * i + 1] = "0123456789abcdef"[code[i] & 15];
  }
  return CRYPTO_memcmp(hex, request->signature, sizeof hex) == 0;
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

static bool has_key(struct MHD_Connection *connection) {
  const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
  return header != NULL && strlen(header) == strlen(KEY) && CRYPTO_memcmp(header, KEY, strlen(KEY)) == 0;
}

static enum MHD_Result begin_request(struct MHD_Connection *connection, void **place) {
  struct request *request = calloc(1, sizeof *request);
  if ((*place = request) == NULL) return MHD_NO;
  request->connection = connection;
  const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Stripe-Signature");
  request->is_context = header == NULL && !uses_schema && has_key(connection);
  return request->is_context || read_signature(request, header) ? MHD_YES : MHD_NO;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *target,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **place) {
  (void)context, (void)target, (void)method, (void)version;
  struct request *request = *place;
  if (request == NULL) return begin_request(connection, place);
  if (*size > 0) {
    if (request->size + *size > body_max) return MHD_NO;
    memcpy(request->text + request->prefix + request->size, data, *size);
    request->size += *size;
    *size = 0;
    return MHD_YES;
  }
  if (request->is_stored) return send_text(connection, 200, "{\"received\":true}");
  if (!request->is_context && !is_signed(request)) return send_text(connection, 400, "{\"error\":\"signature\"}");
  return submit(request);
}

static void forget(void *context, struct MHD_Connection *connection, void **place,
                   enum MHD_RequestTerminationCode why) {
  (void)context, (void)connection, (void)why;
  free(*place);
}

// MARK: the writer's thread

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
    begin();
    for (struct request *request = batch; request != NULL; request = request->next)
      store(request->is_context, request->text + request->prefix, request->size);
    commit();
    while (batch != NULL) {
      struct request *request = batch;
      batch = request->next;  // once it is resumed the request may be gone
      request->is_stored = true;
      MHD_resume_connection(request->connection);
    }
  }
  return unused;
}

int main(int count, char **words) {
  if (count != 3 || (strcmp(words[1], "append") != 0 && strcmp(words[1], "schema") != 0)) {
    fprintf(stderr, "usage: ingest append|schema FILE\n");
    return 64;
  }
  uses_schema = strcmp(words[1], "schema") == 0;
  open_store(words[2]);
  pthread_t writer;
  if (pthread_create(&writer, NULL, write_batches, NULL) != 0) return 1;
  struct MHD_Daemon *daemon = start_server(answer, forget);
  if (daemon == NULL) return 1;
  while (getchar() != EOF) continue;
  pthread_mutex_lock(&lock);
  is_ending = true;
  pthread_cond_signal(&has_changed);
  pthread_mutex_unlock(&lock);
  pthread_join(writer, NULL);
  MHD_stop_daemon(daemon);
  return 0;
}
