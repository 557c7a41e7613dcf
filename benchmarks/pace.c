// Sends the prepared requests by a schedule that does not wait for answers (an open loop), and measures each from
// the moment at which it was due, not from when it could be sent: a server that stalls cannot hide it.
//
// Arguments: port, folder and kind of the records, requests a second, how many, connections, the first record to
// use; then optionally a file for the times at which each request was due, sent and answered (CLOCK_MONOTONIC,
// nanoseconds). Prints one line of JSON. One thread.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { pieces_max = 64, request_max = 65536, answer_max = 16384, patience_s = 20 };

struct piece {
  const char *text;
  size_t length;
  long offset;  // of the record's bytes that follow the text; -1 behind the last
  size_t field;
};

struct connection {
  int socket;
  long request;  // -1 while none is under way
  size_t used;
  char answer[answer_max + 1];
};

struct moment {
  int64_t due, sent, answered;
};

static struct piece pieces[pieces_max];
static const char *records;
static size_t record_size, record_count;
static struct connection *connections, **idle;
static struct sockaddr_in server;
static struct moment *moments;
static long idle_count, answered, refused;

static void fail(const char *what) {
  fprintf(stderr, "pace: %s (%s)\n", what, strerror(errno));
  exit(1);
}

static int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// The length of the answer with which `text` (ended by a NUL) begins, 0 if it is incomplete, -1 if it is not an
// answer or has no length.
static long answer_length(const char *text, size_t size) {
  const char *end = strstr(text, "\r\n\r\n");
  if (end == NULL) return 0;
  if (strncmp(text, "HTTP/1.1 ", 9) != 0) return -1;
  const char *length = strcasestr(text, "\r\nContent-Length:");
  if (length == NULL || length > end) return -1;
  long all = end + 4 - text + strtol(length + 17, NULL, 10);
  return all <= (long)size ? all : 0;
}

static const char *map(const char *folder, const char *kind, const char *ending, size_t *size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%s", folder, kind, ending);
  int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) fail(path);
  *size = (size_t)status.st_size;
  if (*size == 0) return "";
  void *bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (bytes == MAP_FAILED) fail(path);
  close(file);
  return bytes;
}

// A template is text with marks `@OFFSET:LENGTH@`, which are replaced by bytes of the record.
static void read_template(const char *text, size_t size) {
  char *copy = strndup(text, size), *at = copy;
  for (int count = 0; count < pieces_max; count += 1) {
    struct piece *piece = &pieces[count];
    int taken = 0;
    char *mark = at;
    while ((mark = strchr(mark, '@')) != NULL) {
      if (sscanf(mark, "@%ld:%zu@%n", &piece->offset, &piece->field, &taken) == 2 && taken > 0) break;
      mark += 1;
    }
    piece->text = at;
    piece->length = mark == NULL ? strlen(at) : (size_t)(mark - at);
    if (mark == NULL) {
      piece->offset = -1;
      return;
    }
    if (piece->offset + piece->field > record_size) record_size = piece->offset + piece->field;
    at = mark + taken;
  }
  fail("too many marks in the template");
}

static size_t render(char *request, size_t number) {
  const char *record = records + (record_size == 0 ? 0 : number * record_size);
  size_t size = 0;
  for (struct piece *piece = pieces;; piece += 1) {
    if (size + piece->length + piece->field > request_max) fail("the request is too long");
    memcpy(request + size, piece->text, piece->length);
    size += piece->length;
    if (piece->offset < 0) return size;
    memcpy(request + size, record + piece->offset, piece->field);
    size += piece->field;
  }
}

static void connect_one(int poll, struct connection *connection) {
  connection->socket = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connection->socket, (struct sockaddr *)&server, sizeof server) != 0) fail("cannot connect");
  int on = 1;
  setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(connection->socket, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, connection->socket, &event) != 0) fail("epoll_ctl");
  connection->request = -1;
}

static void connect_all(int poll, int port, long count) {
  server = (struct sockaddr_in){
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
  connections = calloc((size_t)count, sizeof *connections);
  idle = calloc((size_t)count, sizeof *idle);
  if (connections == NULL || idle == NULL) fail("no memory");
  for (long i = 0; i < count; i += 1) {
    connect_one(poll, &connections[i]);
    idle[idle_count++] = &connections[i];
  }
}

static void send_request(long number, size_t record) {
  static char request[request_max];
  struct connection *connection = idle[--idle_count];
  size_t size = render(request, record);
  connection->request = number;
  connection->used = 0;
  moments[number].sent = monotonic_ns();
  // An idle socket has room for a request.
  if (send(connection->socket, request, size, MSG_NOSIGNAL) != (ssize_t)size) fail("a request could not be sent");
}

static void take_answer(int poll, struct connection *connection) {
  ssize_t got = recv(connection->socket, connection->answer + connection->used, answer_max - connection->used, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    // A server closes a connection on which no request comes for a while; the busiest few do most of the work here.
    if (got < 0 || connection->request >= 0) fail("a connection broke");
    close(connection->socket);
    connect_one(poll, connection);
    return;
  }
  connection->used += (size_t)got;
  connection->answer[connection->used] = 0;
  long length = answer_length(connection->answer, connection->used);
  if (length < 0 || connection->used == answer_max) fail("an answer that is not understood");
  if (length == 0) return;
  moments[connection->request].answered = monotonic_ns();
  answered += 1;
  if (connection->answer[9] != '2') refused += 1;
  connection->request = -1;
  idle[idle_count++] = connection;
}

static void run(int poll, long total, double rate, size_t first) {
  int64_t start = monotonic_ns() + 10000000, last_answer = start;
  struct epoll_event events[256];
  for (long i = 0; i < total; i += 1) moments[i].due = start + (int64_t)((double)i * 1e9 / rate);
  for (long next = 0; answered < total;) {
    int64_t now = monotonic_ns();
    while (next < total && idle_count > 0 && moments[next].due <= now) {
      send_request(next, first + (size_t)next);
      next += 1;
    }
    int64_t wait = 1000000000;
    if (next < total && idle_count > 0) wait = moments[next].due - monotonic_ns();
    if (wait < 0) wait = 0;
    struct timespec timeout = {wait / 1000000000, wait % 1000000000};
    int count = epoll_pwait2(poll, events, 256, &timeout, NULL);
    if (count < 0 && errno != EINTR) fail("epoll_pwait2");
    for (int i = 0; i < count; i += 1) take_answer(poll, events[i].data.ptr);
    now = monotonic_ns();
    if (count > 0 || next == answered) last_answer = now;
    if (now - last_answer > (int64_t)patience_s * 1000000000) fail("no answer");
  }
}

static int ascending(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static void report(long total, const char *path) {
  int64_t *due = malloc((size_t)total * sizeof *due), *sent = malloc((size_t)total * sizeof *sent), end = 0;
  for (long i = 0; i < total; i += 1) {
    due[i] = moments[i].answered - moments[i].due;
    sent[i] = moments[i].answered - moments[i].sent;
    if (moments[i].answered > end) end = moments[i].answered;
  }
  qsort(due, (size_t)total, sizeof *due, ascending);
  qsort(sent, (size_t)total, sizeof *sent, ascending);
  printf("{\"answers\": %ld, \"refused\": %ld, \"seconds\": %.6f, \"p50_ms\": %.4f, \"p90_ms\": %.4f, "
         "\"p99_ms\": %.4f, \"max_ms\": %.4f, \"sent_p50_ms\": %.4f}\n",
         answered, refused, (double)(end - moments[0].due) / 1e9, (double)due[total / 2] / 1e6,
         (double)due[total * 9 / 10] / 1e6, (double)due[total * 99 / 100] / 1e6, (double)due[total - 1] / 1e6,
         (double)sent[total / 2] / 1e6);
  if (path == NULL) return;
  FILE *file = fopen(path, "w");
  if (file == NULL) fail(path);
  for (long i = 0; i < total; i += 1)
    fprintf(file, "%ld %ld %ld\n", (long)moments[i].due, (long)moments[i].sent, (long)moments[i].answered);
  if (fclose(file) != 0) fail(path);
}

int main(int count, char **words) {
  if (count < 8) {
    fprintf(stderr, "usage: pace PORT FOLDER KIND RATE COUNT CONNECTIONS FIRST [TIMES]\n");
    return 64;
  }
  double rate = atof(words[4]);
  long total = atol(words[5]), first = atol(words[7]);
  size_t size;
  const char *text = map(words[2], words[3], "template", &size);
  read_template(text, size);
  records = map(words[2], words[3], "records", &size);
  record_count = record_size == 0 ? SIZE_MAX : size / record_size;
  if (total < 1 || rate <= 0 || (size_t)(first + total) > record_count) {
    errno = 0;
    fail("there are too few records");
  }
  moments = calloc((size_t)total, sizeof *moments);
  int poll = epoll_create1(0);
  if (moments == NULL || poll < 0) fail("cannot begin");
  prctl(PR_SET_TIMERSLACK, 1);  // be on time to the microsecond
  connect_all(poll, atoi(words[1]), atol(words[6]));
  run(poll, total, rate, (size_t)first);
  report(total, count > 8 ? words[8] : NULL);
  return 0;
}
