#pragma once
// glibc's own settings of its allocator, which Swift's Glibc module leaves out. mallopt(3)
#include <malloc.h>
