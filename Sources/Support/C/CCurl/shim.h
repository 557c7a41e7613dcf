#pragma once
#include <curl/curl.h>

/* curl_easy_setopt(3) and curl_multi_setopt(3) are variadic: one function for each C type of an option. */

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_url(CURL *easy, CURLoption option, CURLU *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_write_callback(CURL *easy, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_prereq_callback(CURL *easy, CURLoption option, curl_prereq_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_resolver_callback(CURL *easy, CURLoption option,
                                                   curl_resolver_start_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_socket_callback(CURL *easy, CURLoption option, curl_sockopt_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLSHcode ccurl_share(CURLSH *share, curl_lock_data data) {
  return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}

/* curl_easy_getinfo(3) is variadic, too. A string belongs to libcurl, until the handle is used again. */

static inline CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, (char **)value);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_certificates(CURL *easy, struct curl_certinfo **value) {
  return curl_easy_getinfo(easy, CURLINFO_CERTINFO, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
