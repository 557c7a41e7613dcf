// The yardstick of deliveries: one libcurl multi handle that posts given bodies, each once, as many at a time as
// receiptd is configured to, over kept connections and with the headers that receiptd sends. No database.
//
// Arguments: port, a file with a body on each line, how many transfers at a time. Ends with 1 if any of them was
// not answered with 2xx.
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *bodies;
static long refused, under_way;
static struct curl_slist *headers;
static char url[128];

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

// Posts the next line; false when there is none left.
static int begin(CURLM *multi, CURL *easy) {
  char *line = NULL;
  size_t room = 0;
  ssize_t size = getline(&line, &room, bodies);
  if (size > 0 && line[size - 1] == '\n') size -= 1;
  if (size > 0) {
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, line);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    curl_multi_add_handle(multi, easy);
    under_way += 1;
  }
  free(line);
  return size > 0;
}

static void collect(CURLM *multi) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(multi, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL *easy = message->easy_handle;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result != CURLE_OK || status / 100 != 2) refused += 1;
    curl_multi_remove_handle(multi, easy);
    under_way -= 1;
    if (!begin(multi, easy)) curl_easy_cleanup(easy);
  }
}

int main(int count, char **words) {
  if (count != 4 || (bodies = fopen(words[2], "r")) == NULL) {
    fprintf(stderr, "usage: bare_client PORT FILE CONCURRENCY\n");
    return 64;
  }
  long concurrency = atol(words[3]);
  snprintf(url, sizeof url, "http://127.0.0.1:%d/receipts", atoi(words[1]));
  curl_global_init(CURL_GLOBAL_ALL);
  const char *lines[] = {"Content-Type: application/json", "X-API-KEY: benchmark", "X-PLATFORM-TYPE: STRIPE",
                         "User-Agent: receiptd/0.1.0", "Expect:"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i += 1) headers = curl_slist_append(headers, lines[i]);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, concurrency);
  for (long i = 0; i < concurrency; i += 1) {
    CURL *easy = curl_easy_init();
    if (easy == NULL || !begin(multi, easy)) curl_easy_cleanup(easy);
  }
  while (under_way > 0) {
    int running;
    if (curl_multi_perform(multi, &running) != CURLM_OK) return 1;
    collect(multi);
    if (under_way > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  curl_multi_cleanup(multi);
  if (refused > 0) fprintf(stderr, "bare_client: %ld were not answered with 2xx\n", refused);
  return refused == 0 ? 0 : 1;
}
