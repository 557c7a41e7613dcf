// Opens one connection for each context and asks on it for the context's state with `?wait=`, all at once; says
// `held` when all requests are sent, then counts the answers until everyone has one.
//
// Arguments: port, path before the context's id, a file with an id on each line, seconds to wait, how many source
// addresses to use (127.0.0.2 and on), so that neither ports nor a limit per address run out. Prints one line of
// JSON at the end: how many answers had which state, and when, in seconds since the last request was sent.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "http.h"

enum { answer_max = 2048, opened_at_once = 128, patience_s = 60 };

struct poll {
  int socket, is_sent;
  size_t used;
  char id[64];
  char *answer;
};

static struct poll *polls;
static long count, sent, answered, open_count, delivered_count, other_count;
static int64_t began, all_sent, first_delivered, last_delivered, first_open, last_open;
static int epoll, port, wait_s, addresses;
static const char *path;

static void fail(const char *what) {
  fprintf(stderr, "polls: %s (%s); %ld sent, %ld answered\n", what, strerror(errno), sent, answered);
  exit(1);
}

static void read_ids(const char *name) {
  FILE *file = fopen(name, "r");
  if (file == NULL) fail(name);
  char line[64];
  for (long room = 0; fscanf(file, "%63s", line) == 1; count += 1) {
    if (count == room && (polls = realloc(polls, (size_t)(room = room * 2 + 1024) * sizeof *polls)) == NULL)
      fail("no memory");
    polls[count] = (struct poll){.socket = -1};
    strcpy(polls[count].id, line);
  }
  fclose(file);
}

static void open_one(struct poll *poll) {
  poll->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (poll->socket < 0) fail("socket");
  int on = 1;
  setsockopt(poll->socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  long number = poll - polls;
  struct sockaddr_in source = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (unsigned)(number % addresses))};
  struct sockaddr_in target = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
  if (bind(poll->socket, (struct sockaddr *)&source, sizeof source) != 0) fail("bind");
  if (connect(poll->socket, (struct sockaddr *)&target, sizeof target) != 0 && errno != EINPROGRESS)
    fail("connect");
  struct epoll_event event = {.events = EPOLLOUT, .data.ptr = poll};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, poll->socket, &event) != 0) fail("epoll_ctl");
}

static void send_one(struct poll *poll) {
  char request[512];
  int size = snprintf(request, sizeof request, "GET %s%s?wait=%d HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path,
                      poll->id, wait_s);
  if (send(poll->socket, request, (size_t)size, MSG_NOSIGNAL) != size) fail("a request could not be sent");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = poll};
  epoll_ctl(epoll, EPOLL_CTL_MOD, poll->socket, &event);
  poll->is_sent = 1;
  sent += 1;
}

static void note(int64_t *first, int64_t *last, long *how_many) {
  *last = monotonic_ns();
  if (*how_many == 0) *first = *last;
  *how_many += 1;
}

static void take_answer(struct poll *poll) {
  if (poll->answer == NULL && (poll->answer = malloc(answer_max + 1)) == NULL) fail("no memory");
  ssize_t got = recv(poll->socket, poll->answer + poll->used, answer_max - poll->used, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) fail("a connection broke");
  poll->used += (size_t)got;
  poll->answer[poll->used] = 0;
  long length = answer_length(poll->answer, poll->used);
  if (length < 0 || poll->used == answer_max) fail("an answer that is not understood");
  if (length == 0) return;
  if (sent < count) fail("an answer came before all requests were sent");
  int is_ours = strncmp(poll->answer + 9, "200", 3) == 0 && strstr(poll->answer, poll->id) != NULL;
  if (is_ours && strstr(poll->answer, "\"state\":\"delivered\"") != NULL)
    note(&first_delivered, &last_delivered, &delivered_count);
  else if (is_ours && strstr(poll->answer, "\"state\":\"open\"") != NULL)
    note(&first_open, &last_open, &open_count);
  else
    other_count += 1;
  answered += 1;
  free(poll->answer);
  close(poll->socket);
}

static double since(int64_t moment) { return moment == 0 ? 0 : (double)(moment - all_sent) / 1e9; }

int main(int words_count, char **words) {
  if (words_count != 6) {
    fprintf(stderr, "usage: polls PORT PATH IDS SECONDS ADDRESSES\n");
    return 64;
  }
  port = atoi(words[1]), path = words[2], wait_s = atoi(words[4]), addresses = atoi(words[5]);
  read_ids(words[3]);
  epoll = epoll_create1(0);
  struct epoll_event events[256];
  int64_t last_news = began = monotonic_ns();
  for (long opened = 0; answered < count;) {
    while (opened < count && opened - sent < opened_at_once) open_one(&polls[opened++]);
    int found = epoll_wait(epoll, events, 256, 1000);
    if (found > 0) last_news = monotonic_ns();
    if (monotonic_ns() - last_news > (int64_t)patience_s * 1000000000) fail("nothing happens");
    for (int i = 0; i < found; i += 1) {
      struct poll *poll = events[i].data.ptr;
      if (poll->is_sent) {
        take_answer(poll);
        continue;
      }
      send_one(poll);
      if (sent < count) continue;
      all_sent = monotonic_ns();
      printf("held\n");
      fflush(stdout);
    }
  }
  printf("{\"open\": %ld, \"delivered\": %ld, \"other\": %ld, \"delivered_first_s\": %.3f, \"delivered_last_s\": %.3f, "
         "\"open_first_s\": %.3f, \"open_last_s\": %.3f, \"opening_s\": %.3f}\n",
         open_count, delivered_count, other_count, since(first_delivered), since(last_delivered),
         since(first_open), since(last_open), -since(began));
  return 0;
}
