// A network that takes its time: forwards connections from one Unix socket to another, and holds what the
// server sends for a while. So each round trip takes that much longer, and the throughput stays the same.
// `slow MILLISECONDS LISTEN SERVER`; ends with SIGTERM.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { links_max = 256, piece_max = 65536 };

struct piece {
  long long due;
  size_t length;
  struct piece *next;
  char bytes[];
};

struct link {
  int client, server;
  struct piece *first, *last;
};

static struct link links[links_max];
static int count;
static char buffer[piece_max];

static void stop(const char *what) {
  perror(what);
  exit(1);
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static struct sockaddr_un address(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    fprintf(stderr, "slow: the path is too long: %s\n", path);
    exit(1);
  }
  strcpy(address.sun_path, path);
  return address;
}

static int send_all(int socket, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = send(socket, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return 0;
    bytes += sent;
    length -= sent;
  }
  return 1;
}

static void close_link(int index) {
  struct link *link = &links[index];
  close(link->client);
  close(link->server);
  for (struct piece *piece = link->first, *next; piece; piece = next) {
    next = piece->next;
    free(piece);
  }
  links[index] = links[--count];
}

static int pass_to_server(struct link *link) {
  ssize_t length = recv(link->client, buffer, sizeof buffer, 0);
  return length > 0 && send_all(link->server, buffer, length);
}

static int hold(struct link *link, long long delay) {
  ssize_t length = recv(link->server, buffer, sizeof buffer, 0);
  if (length <= 0) return 0;
  struct piece *piece = malloc(sizeof *piece + length);
  if (!piece) stop("malloc");
  *piece = (struct piece){.due = now() + delay, .length = length};
  memcpy(piece->bytes, buffer, length);
  if (link->last) link->last->next = piece;
  else link->first = piece;
  link->last = piece;
  return 1;
}

static int pass_due(struct link *link, long long time) {
  while (link->first && link->first->due <= time) {
    struct piece *piece = link->first;
    link->first = piece->next;
    if (!link->first) link->last = NULL;
    int is_sent = send_all(link->client, piece->bytes, piece->length);
    free(piece);
    if (!is_sent) return 0;
  }
  return 1;
}

int main(int words, char **word) {
  if (words != 4) {
    fprintf(stderr, "usage: slow MILLISECONDS LISTEN SERVER\n");
    return 64;
  }
  long long delay = atoll(word[1]) * 1000000;
  struct sockaddr_un here = address(word[2]), server = address(word[3]);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 64)) stop(word[2]);
  for (;;) {
    struct pollfd entries[2 * links_max + 1] = {{.fd = count < links_max ? listener : -1, .events = POLLIN}};
    long long next = -1;
    for (int index = 0; index < count; index++) {
      entries[2 * index + 1] = (struct pollfd){.fd = links[index].client, .events = POLLIN};
      entries[2 * index + 2] = (struct pollfd){.fd = links[index].server, .events = POLLIN};
      struct piece *first = links[index].first;
      if (first && (next < 0 || first->due < next)) next = first->due;
    }
    long long pause = next < 0 ? 0 : next - now();
    if (pause < 0) pause = 0;
    struct timespec time = {pause / 1000000000, pause % 1000000000};
    int known = count;
    if (ppoll(entries, 2 * known + 1, next < 0 ? NULL : &time, NULL) < 0 && errno != EINTR) stop("poll");
    long long at = now();
    // From the last on, because a link that ends is replaced with the last.
    for (int index = known - 1; index >= 0; index--) {
      struct link *link = &links[index];
      int lives = !entries[2 * index + 1].revents || pass_to_server(link);
      lives = lives && (!entries[2 * index + 2].revents || hold(link, delay));
      if (!lives || !pass_due(link, at)) close_link(index);
    }
    if (!entries[0].revents) continue;
    struct link link = {.client = accept(listener, NULL, NULL), .server = socket(AF_UNIX, SOCK_STREAM, 0)};
    if (link.client < 0) continue;
    if (connect(link.server, (struct sockaddr *)&server, sizeof server)) {
      close(link.client);
      close(link.server);
      continue;
    }
    links[count++] = link;
  }
}
