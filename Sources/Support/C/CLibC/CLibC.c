// Defined values as text: without quotes, which each tool on the way to the compiler would treat differently.
#include "CLibC.h"

#define QUOTED(...) #__VA_ARGS__
#define TEXT(...) QUOTED(__VA_ARGS__)

#ifndef SOURCE_COMMIT
#define SOURCE_COMMIT
#endif
#ifndef SOURCE_DATE
#define SOURCE_DATE
#endif

const char *CLibC_commit(void) { return TEXT(SOURCE_COMMIT); }
const char *CLibC_date(void) { return TEXT(SOURCE_DATE); }
