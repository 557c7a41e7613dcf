#pragma once
// What the kernel knows of the clock's synchronisation, which Swift's Glibc module leaves out. adjtimex(2)
#include <sys/timex.h>
