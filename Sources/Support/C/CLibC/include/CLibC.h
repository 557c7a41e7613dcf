// What the programs were built from. deploy/dev/build defines both for a release; other builds know neither.
#pragma once

// glibc's own settings of its allocator, which Swift's Glibc module leaves out. mallopt(3)
#include <malloc.h>
// What the kernel knows of the clock's synchronisation, which Swift's Glibc module leaves out. adjtimex(2)
#include <sys/timex.h>
// The type of a file system, which Swift's Glibc module leaves out. statfs(2)
#include <sys/vfs.h>

// The commit, such as "3fbd2d213", followed by "-dirty" if there were uncommitted changes; empty if unknown.
const char *CLibC_commit(void);
// The commit's date, such as "2026-11-27" (UTC); empty if unknown.
const char *CLibC_date(void);
