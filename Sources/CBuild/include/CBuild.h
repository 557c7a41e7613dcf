// What the programs were built from. deploy/dev/build defines both for a release; other builds know neither.
#pragma once

// The commit, such as "3fbd2d213", followed by "-dirty" if there were uncommitted changes; empty if unknown.
const char *CBuild_commit(void);
// The commit's date, such as "2026-11-27" (UTC); empty if unknown.
const char *CBuild_date(void);
